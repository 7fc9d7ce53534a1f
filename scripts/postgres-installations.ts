import fs from 'node:fs';
import path from 'node:path';

// PostgreSQL of other versions than the packaged one, for the tests that run on each.

/** Where Debian and Ubuntu put them. */
const SYSTEM = '/usr/lib/postgresql';

/** The folders of versions, `<folder>/<version>/bin/postgres`, below POSTGRES_BINARIES_DIR (several are separated by colons) or the system's place. */
export function installedVersions(folders = process.env.POSTGRES_BINARIES_DIR ?? SYSTEM): { version: number; installation: string }[] {
  const found = folders
    .split(':')
    .flatMap((folder) =>
      (fs.existsSync(folder) ? fs.readdirSync(folder) : [])
        .filter((name) => /^\d+$/.test(name) && fs.existsSync(path.join(folder, name, 'bin/postgres')))
        .map((name) => ({ version: Number(name), installation: path.join(folder, name) })),
    );
  return [...new Map(found.map((one) => [one.version, one])).values()].sort((a, b) => a.version - b.version);
}
