import fs from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { codingFor } from './content-coding.ts';

// Scripts and styles whose names change with their content: compressed once, when they are built, and served from memory. A server that reads
// them from the disk answers wrongly, or ends, when the next release is built under it.

const TYPES: Readonly<Record<string, string>> = { '.js': 'application/javascript; charset=UTF-8', '.css': 'text/css; charset=UTF-8' };
/** Bytes below which a compressed file is not smaller by as much as its name costs. */
const WORTH_IT = 256;

type StaticFile = { type: string; plain: Buffer; br: Buffer | undefined; gzip: Buffer | undefined };

/** Puts `<file>.br` and `<file>.gz` beside every script and style below the folder. */
export async function compressFiles(folder: string): Promise<void> {
  const best = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
  await Promise.all(
    filesBelow(folder).map(async (file) => {
      const plain = await fs.promises.readFile(file);
      if (plain.length < WORTH_IT) return;
      await fs.promises.writeFile(`${file}.br`, await promisify(brotliCompress)(plain, best));
      await fs.promises.writeFile(`${file}.gz`, await promisify(gzip)(plain, { level: constants.Z_BEST_COMPRESSION }));
    }),
  );
}

/**
 * Reads every script and style below the folder, and answers for those whose path begins with `prefix`, 404 for one that is not there: of another
 * release mostly, and no page of a person. False for what is neither. What is answered may be kept for a year.
 */
export function staticFiles(folder: string, prefix: string): (req: IncomingMessage, res: ServerResponse) => boolean {
  const files = new Map<string, StaticFile>();
  for (const file of filesBelow(folder)) {
    const compressed = (ending: string) => (fs.existsSync(file + ending) ? fs.readFileSync(file + ending) : undefined);
    const type = TYPES[path.extname(file)] as string;
    const name = path.relative(folder, file).split(path.sep).join('/');
    files.set(`${prefix}${name}`, { type, plain: fs.readFileSync(file), br: compressed('.br'), gzip: compressed('.gz') });
  }
  return (req, res) => {
    const { url = '' } = req;
    if (!url.startsWith(prefix) || (req.method !== 'GET' && req.method !== 'HEAD')) return false;
    const query = url.indexOf('?');
    const name = decoded(query < 0 ? url : url.slice(0, query));
    const file = files.get(name);
    if (!file) {
      if (path.extname(name) in TYPES) res.writeHead(404, { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }).end();
      return res.headersSent;
    }
    const wanted = codingFor(req.headers['accept-encoding']);
    const body = (wanted && file[wanted]) ?? file.plain;
    res.writeHead(200, {
      'content-type': file.type,
      'content-length': body.length,
      ...(body === file.plain ? {} : { 'content-encoding': wanted as string }),
      vary: 'Accept-Encoding',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    });
    res.end(req.method === 'HEAD' ? undefined : body);
    return true;
  };
}

/** A name may have brackets, which some percent-encode and some do not. */
function decoded(url: string): string {
  if (!url.includes('%')) return url;
  try {
    return decodeURIComponent(url);
  } catch {
    return '';
  }
}

function filesBelow(folder: string): string[] {
  return fs
    .readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && path.extname(entry.name) in TYPES)
    .map((entry) => path.join(entry.parentPath, entry.name));
}
