import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { type Coding, codingFor } from '#server/platform/content-coding.ts';

/** Bytes below which compressing costs more than it saves. */
const WORTH_IT = 1_024;

export const isCompressible = (body: string): boolean => body.length >= WORTH_IT;

/** The body as the caller takes it by Accept-Encoding. */
export async function encoded(
  body: string,
  accept: string | null,
): Promise<{ body: string | Uint8Array<ArrayBuffer>; encoding: Coding | null }> {
  const encoding = isCompressible(body) ? codingFor(accept) : null;
  switch (encoding) {
    case 'br':
      return { body: await toBrotli(body, FAST), encoding };
    case 'gzip':
      return { body: await toGzip(body), encoding };
    case null:
      return { body, encoding };
  }
}

const toGzip = promisify(gzip);
const toBrotli = promisify(brotliCompress);
/** Quality 4 costs about what gzip does and is smaller; the highest takes a hundred times as long. */
const FAST = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
