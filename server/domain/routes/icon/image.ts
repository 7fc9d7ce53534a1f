import { crc32 } from 'node:zlib';

/** A picture that was taken apart and put together again: of what a stranger sent only pixels are left. */
export type IconImage = { type: 'image/png' | 'image/x-icon'; bytes: Buffer };

/** A longer side would let few bytes fill a reader's memory with pixels. */
const LONGEST_SIDE = 512;
/** What a list shows at twice its density. */
const WANTED_SIDE = 32;

/**
 * The PNG or ICO in some bytes, judged by the bytes alone (interface rule 10 §2.2); null for everything else. Texts, colour profiles, animations and
 * whatever follows the picture are left out, and of an ICO's pictures one is kept. Never throws.
 */
export function iconImage(bytes: Buffer): IconImage | null {
  const png = pngPixels(bytes);
  return png ? { type: 'image/png', bytes: png } : icoPicture(bytes);
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const PIXELS: ReadonlySet<string> = new Set(['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND']);

/** PNG (third edition) §5: length, type, data, CRC; the first chunk is IHDR, the last one IEND. */
function pngPixels(bytes: Buffer): Buffer | null {
  if (!bytes.subarray(0, 8).equals(SIGNATURE)) return null;
  const kept: Buffer[] = [SIGNATURE];
  let data = 0;
  for (let at = 8; at + 12 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const end = at + 12 + length;
    if (end > bytes.length) return null;
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (kept.length === 1 && (type !== 'IHDR' || length !== 13 || !fits(bytes.readUInt32BE(at + 8), bytes.readUInt32BE(at + 12))))
      return null;
    if (kept.length > 1 && type === 'IHDR') return null;
    if (PIXELS.has(type)) {
      if (crc32(bytes.subarray(at + 4, end - 4)) !== bytes.readUInt32BE(end - 4)) return null;
      kept.push(bytes.subarray(at, end));
    }
    if (type === 'IDAT') data += length;
    if (type === 'IEND') return data > 0 && length === 0 ? Buffer.concat(kept) : null;
    at = end;
  }
  return null;
}

/** A directory of pictures: six bytes, then sixteen for each. The smallest that is large enough is kept, or the largest. */
function icoPicture(bytes: Buffer): IconImage | null {
  if (bytes.length < 6 || bytes.readUInt32LE(0) !== 0x0001_0000) return null;
  const count = bytes.readUInt16LE(4);
  if (count === 0 || 6 + count * 16 > bytes.length) return null;
  const entries = Array.from({ length: count }, (_, i) => {
    const at = 6 + i * 16;
    return {
      side: bytes[at] || 256,
      depth: bytes.readUInt16LE(at + 6),
      size: bytes.readUInt32LE(at + 8),
      offset: bytes.readUInt32LE(at + 12),
    };
  });
  const rank = ({ side }: { side: number }) => (side >= WANTED_SIDE ? side : 1_000 - side);
  entries.sort((a, b) => rank(a) - rank(b) || b.depth - a.depth);
  for (const { size, offset } of entries) {
    if (offset < 6 + count * 16 || offset + size > bytes.length) continue;
    const picture = bytes.subarray(offset, offset + size);
    const png = pngPixels(picture);
    if (png) return { type: 'image/png', bytes: png };
    const bitmap = bitmapPixels(picture);
    if (bitmap) return { type: 'image/x-icon', bytes: bitmap };
  }
  return null;
}

/** A bitmap without file header, as an ICO of one picture: forty bytes, the palette, the colours and the mask below them, so twice as high. */
function bitmapPixels(bytes: Buffer): Buffer | null {
  if (bytes.length < 40 || bytes.readUInt32LE(0) !== 40) return null;
  const [width, height] = [bytes.readInt32LE(4), bytes.readInt32LE(8) / 2];
  const [depth, compression, colours] = [bytes.readUInt16LE(14), bytes.readUInt32LE(16), bytes.readUInt32LE(32)];
  if (!fits(width, height, 256) || ![1, 4, 8, 24, 32].includes(depth) || compression !== 0) return null;
  const palette = depth > 8 ? 0 : colours || 2 ** depth;
  if (palette > 256) return null;
  const row = (bits: number) => Math.ceil((width * bits) / 32) * 4;
  const pixels = 40 + palette * 4 + row(depth) * height;
  if (bytes.length < pixels + (depth === 32 ? 0 : row(1) * height)) return null;
  const picture = bytes.subarray(0, pixels + row(1) * height);
  const head = Buffer.alloc(22);
  head.writeUInt32LE(0x0001_0000, 0);
  head.writeUInt16LE(1, 4);
  head[6] = width & 0xff;
  head[7] = height & 0xff;
  head.writeUInt16LE(1, 10);
  head.writeUInt16LE(depth, 12);
  head.writeUInt32LE(picture.length, 14);
  head.writeUInt32LE(22, 18);
  return Buffer.concat([head, picture]);
}

const fits = (width: number, height: number, most = LONGEST_SIDE): boolean =>
  Number.isInteger(width) && Number.isInteger(height) && width > 0 && height > 0 && width <= most && height <= most;
