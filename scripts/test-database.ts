import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { hashOf, isAlive, root } from './command.ts';
import { type Database, startDatabase } from './database.ts';
import { migrate } from './schema.ts';

export const template = 'template_sallyport';
export type TestDatabase = Database & { directory: string; remove: () => Promise<void> };

const unsafeButFast = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'autovacuum=off', 'max_connections=200'];
const prefix = path.join(os.tmpdir(), 'sallyport-test-');
const kept = path.join(root, 'node_modules/.cache/sallyport-test');

/**
 * A throw-away server with the database `template_sallyport`, migrated. Its files are copied from a kept set that is made anew when
 * the migrations change, so that one test file can be run in a second.
 */
export async function startTestDatabase(): Promise<TestDatabase> {
  sweep();
  const source = path.join(kept, hashOf('prisma/migrations', 'scripts/database.ts', 'scripts/test-database.ts').slice(0, 16));
  if (!fs.existsSync(source)) await keep(source);
  const directory = fs.mkdtempSync(`${prefix}${process.pid}-`);
  copyTree(source, directory);
  const database = await startDatabase(directory, unsafeButFast);
  const remove = async () => {
    await database.stop();
    fs.rmSync(directory, { recursive: true, force: true });
  };
  return { ...database, directory, remove };
}

async function keep(target: string): Promise<void> {
  const making = `${prefix}${process.pid}-${randomBytes(4).toString('hex')}`;
  const database = await startDatabase(making, unsafeButFast);
  try {
    await database.create(template);
    await migrate(database.url(template));
  } catch (error) {
    await database.stop();
    fs.rmSync(making, { recursive: true, force: true });
    throw error;
  }
  await database.stop();
  for (const old of fs.existsSync(kept) ? fs.readdirSync(kept) : []) fs.rmSync(path.join(kept, old), { recursive: true, force: true });
  fs.mkdirSync(kept, { recursive: true });
  fs.mkdirSync(`${target}.new-${process.pid}`);
  copyTree(making, `${target}.new-${process.pid}`);
  fs.rmSync(making, { recursive: true, force: true });
  if (!fs.existsSync(target)) fs.renameSync(`${target}.new-${process.pid}`, target);
}

/** With owners and modes, which PostgreSQL checks and Node's own copy does not keep. */
function copyTree(from: string, to: string): void {
  execFileSync('cp', ['-a', `${from}/.`, to]);
}

/** Ends and removes what test runs left behind that were killed before they could. */
function sweep(): void {
  for (const name of fs.readdirSync(os.tmpdir())) {
    const [, owner] = /^sallyport-test-(\d+)-/.exec(name) ?? [];
    if (!owner || isAlive(Number(owner))) continue;
    const directory = path.join(os.tmpdir(), name);
    const lock = path.join(directory, 'data/postmaster.pid');
    try {
      process.kill(Number(fs.readFileSync(lock, 'utf8').split('\n')[0]), 'SIGQUIT');
    } catch {} // no server left
    fs.rmSync(directory, { recursive: true, force: true });
  }
}
