/** What a file is by its first bytes, whatever it is called: the three that are taken, and the names of what people send by mistake. */
export function kindOf(bytes: Uint8Array): { name: string; taken: boolean } {
  const head = Buffer.from(bytes.subarray(0, 512)).toString('latin1');
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return { name: 'a PNG', taken: true };
  if (head.startsWith('\xff\xd8\xff')) return { name: 'a JPEG', taken: true };
  if (/^RIFF.{4}WEBP/s.test(head)) return { name: 'a WebP', taken: true };
  return { name: OTHERS.find(([mark]) => mark.test(head))?.[1] ?? 'another format', taken: false };
}

const OTHERS: readonly (readonly [RegExp, string])[] = [
  [/^$/, 'an empty file'],
  [/^GIF8/, 'a GIF'],
  [/^.{4}ftyp(?:heic|heix|mif1|msf1)/s, 'a HEIC picture, as taken by phones; export it as JPEG'],
  [/^.{4}ftypavi[fs]/s, 'an AVIF picture'],
  [/^(?:\xef\xbb\xbf)?\s*(?:<\?xml|<!--|<!DOCTYPE svg|<svg)/i, 'an SVG'],
  [/^\s*<(?:!doctype html|html)/i, 'a web page'],
  [/^BM/, 'a BMP'],
  [/^(?:II\*\0|MM\0\*)/, 'a TIFF'],
  [/^%PDF/, 'a PDF'],
];
