import sharp from 'sharp';
import type { Answer } from './answer.ts';

// The process that decodes what anybody may send. It holds no key, no setting and no connection: what a fault in a decoder of libvips would give away
// is the picture itself, and what it can break is this process. One picture at a time.

/** Both bound the memory a small file can ask for: an interlaced PNG of this many pixels with 16 bits a channel takes 270 MB. */
const MOST_PIXELS = 25_000_000;
const LONGEST_SIDE = 12_000;
const SHORTEST_SIDE = 16;
const SIDE = 256;

sharp.cache(false);
sharp.concurrency(1);
// Only these three decoders are ever given a byte; SVG, GIF, TIFF, PDF and the rest are not there.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: ['VipsForeignLoadJpegBuffer', 'VipsForeignLoadPngBuffer', 'VipsForeignLoadWebpBuffer'] });

process.on('message', (bytes: Uint8Array) => void answerTo(bytes).then((answer) => process.send?.(answer)));
process.send?.('ready');

async function answerTo(bytes: Uint8Array): Promise<Answer> {
  try {
    const { format, width, height, pages } = await sharp(bytes, { limitInputPixels: false }).metadata();
    if (format !== 'png' && format !== 'jpeg' && format !== 'webp') return { fault: 'format' };
    if (width * height > MOST_PIXELS || Math.max(width, height) > LONGEST_SIDE) return { fault: 'too_large' };
    if (Math.min(width, height) < SHORTEST_SIDE) return { fault: 'too_small' };
    if ((pages ?? 1) > 1 || (format === 'png' && isAnimated(bytes))) return { fault: 'animated' };
    // Pixels alone go on: without the calls that keep them, EXIF, XMP, ICC, comments and whatever follows the picture stay behind.
    const webp = await sharp(bytes, { limitInputPixels: MOST_PIXELS, failOn: 'warning' })
      .autoOrient()
      .resize(SIDE, SIDE, { fit: 'cover' })
      .toColourspace('srgb')
      .webp({ quality: 85 })
      .toBuffer();
    return { webp };
  } catch (error) {
    return { fault: /unsupported image format/.test(String(error)) ? 'format' : 'damaged' };
  }
}

/** libvips shows the still of an animated PNG. Its chunk acTL comes before the pixels (PNG, third edition, §5.6). */
function isAnimated(png: Uint8Array): boolean {
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength);
  for (let at = 8; at + 8 <= png.byteLength; at += 12 + view.getUint32(at)) {
    const type = view.getUint32(at + 4);
    if (type === 0x6163544c) return true;
    if (type === 0x49444154) return false;
  }
  return false;
}
