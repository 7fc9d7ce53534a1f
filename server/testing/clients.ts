import fs from 'node:fs';
import path from 'node:path';

/** A file of a client that `scripts/fetch-clients.ts` has installed into CLIENTS_DIR, by a pattern below its packages. */
export function clientFile(pattern: string): string | undefined {
  const packages = path.join(process.env.CLIENTS_DIR ?? '', 'node_modules');
  if (!process.env.CLIENTS_DIR || !fs.existsSync(packages)) return undefined;
  return fs.globSync(`${packages}/${pattern}`).find((file) => fs.statSync(file).isFile());
}

/** The `skip` of a test: the reason when the client isn't there. */
export const unlessFound = (file: string | undefined, what: string): string | false => (file ? false : `${what} is not in CLIENTS_DIR`);
