import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** Bytes below which compressing costs more than it saves. */
const WORTH_IT = 1_024;

export const isCompressible = (body: string): boolean => body.length >= WORTH_IT;

/** The body as the caller takes it by Accept-Encoding (RFC 9110 §12.5.3): br or gzip, br when both are as welcome; else as it is. */
export async function encoded(
  body: string,
  accept: string | null,
): Promise<{ body: string | Uint8Array<ArrayBuffer>; encoding: 'br' | 'gzip' | null }> {
  const welcome = isCompressible(body) && accept ? weights(accept) : NONE;
  const of = (coding: string) => welcome.get(coding) ?? welcome.get('*') ?? 0;
  const [br, zip] = [of('br'), of('gzip')];
  if (br === 0 && zip === 0) return { body, encoding: null };
  // A wildcard is mostly sent by those who know gzip and nothing else.
  if (br >= zip && (welcome.has('br') || zip === 0)) return { body: await toBrotli(body, FAST), encoding: 'br' };
  return { body: await toGzip(body), encoding: 'gzip' };
}

const toGzip = promisify(gzip);
const toBrotli = promisify(brotliCompress);
/** Quality 4 costs about what gzip does and is smaller; the highest takes a hundred times as long. */
const FAST = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

const NONE: ReadonlyMap<string, number> = new Map();

/** How welcome each named coding is, from 0, not at all, to 1. */
function weights(accept: string): ReadonlyMap<string, number> {
  const named = new Map<string, number>();
  for (const part of accept.toLowerCase().split(',')) {
    const [coding = '', q] = part.split(/;\s*q=/);
    named.set(coding.trim(), q === undefined ? 1 : Number(/^(?:0(?:\.\d{1,3})?|1(?:\.0{1,3})?)\s*$/.exec(q)?.[0] ?? 0));
  }
  return named;
}
