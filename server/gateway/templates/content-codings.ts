import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw, zstdDecompress } from 'node:zlib';
import { members } from '#server/kernel/list-header.ts';

type Decoder = (bytes: Buffer, most: number) => Promise<Buffer>;
const decoder = (decode: (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>): Decoder => {
  return (bytes, most) => decode(bytes, { maxOutputLength: most });
};
const zlib = decoder(promisify(inflate));
const raw = decoder(promisify(inflateRaw));

/** The content codings of RFC 9110 §8.4.1, and those of RFC 7932 and RFC 8878. */
const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: decoder(promisify(gunzip)),
  // Some send it without the header of zlib.
  deflate: (bytes, most) => zlib(bytes, most).catch((error: unknown) => (isTooLarge(error) ? Promise.reject(error) : raw(bytes, most))),
  br: decoder(promisify(brotliDecompress)),
  zstd: decoder(promisify(zstdDecompress)),
};
const MOST_LAYERS = 4;

const isTooLarge = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';

/** The codings that a Content-Encoding names, in the order in which they were applied; none for a body that is as it is. */
export const codingsOf = (contentEncoding: string): string[] =>
  members(contentEncoding.toLowerCase())
    .map((one) => one.replace(/^x-/, ''))
    .filter((one) => one !== 'identity');

/** The body without its codings: `unreadable` when one is unknown or isn't what it says, `too_large` beyond `most` bytes. */
export async function decompressed(bytes: Buffer, codings: readonly string[], most: number): Promise<Buffer | 'unreadable' | 'too_large'> {
  if (codings.length > MOST_LAYERS) return 'unreadable';
  let plain = bytes;
  for (const coding of codings.toReversed()) {
    const decode = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined;
    if (!decode) return 'unreadable';
    if (plain.length === 0) return plain;
    try {
      plain = await decode(plain, most);
    } catch (error) {
      return isTooLarge(error) ? 'too_large' : 'unreadable';
    }
  }
  return plain;
}
