import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { hashOf, isAlive, root } from './command.ts';
import { type Database, postmaster, startDatabase } from './database.ts';
import { migrate } from './schema.ts';

export const template = 'template_sallyport';
export type TestDatabase = Database & { directory: string; remove: () => Promise<void> };

const unsafeButFast = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'autovacuum=off', 'max_connections=200'];
// A test searches the server's files for secrets: a gigabyte of log of other tests would be most of them.
const shortLog = ['max_wal_size=96MB', 'min_wal_size=32MB'];
const prefix = path.join(os.tmpdir(), 'sallyport-test-');
const kept = path.join(root, 'node_modules/.cache/sallyport-test');

/** The folder of another PostgreSQL than the packaged one, for a run of the tests on it: `TEST_POSTGRES=/usr/lib/postgresql/15 npm test server/domain`. */
const installation = process.env.TEST_POSTGRES;

/**
 * A throw-away server with the database `template_sallyport`, migrated. Its files are copied from a kept set that is made anew when
 * the migrations change, so that one test file can be run in a second.
 */
export async function startTestDatabase(): Promise<TestDatabase> {
  sweep();
  const made = hashOf('prisma/migrations', 'scripts/database.ts', 'scripts/test-database.ts').slice(0, 16);
  const source = path.join(kept, installation ? `${made}${installation.replaceAll('/', '_')}` : made);
  if (!fs.existsSync(source)) await keep(source);
  const directory = fs.mkdtempSync(`${prefix}${process.pid}-`);
  copyTree(source, directory);
  const database = await startDatabase(directory, [...unsafeButFast, ...shortLog], installation);
  const remove = async () => {
    await database.stop();
    fs.rmSync(directory, { recursive: true, force: true });
  };
  return { ...database, directory, remove };
}

/** An empty throw-away server for the time of `work`. */
export async function withScratchDatabase<T>(work: (database: Database, directory: string) => Promise<T>): Promise<T> {
  const directory = fs.mkdtempSync(`${prefix}${process.pid}-`);
  try {
    const database = await startDatabase(directory, unsafeButFast, installation);
    try {
      return await work(database, directory);
    } finally {
      await database.stop();
    }
  } finally {
    fs.rmSync(directory, { recursive: true, force: true });
  }
}

async function keep(target: string): Promise<void> {
  const fresh = `${target}.new-${process.pid}`;
  await withScratchDatabase(async (database, directory) => {
    await database.create(template);
    await migrate(database.url(template));
    await database.stop();
    dropOldSets();
    fs.mkdirSync(fresh, { recursive: true });
    copyTree(directory, fresh);
  });
  if (fs.existsSync(target)) fs.rmSync(fresh, { recursive: true });
  else fs.renameSync(fresh, target);
}

/** Only sets that no run of this hour can be copying from. */
function dropOldSets(): void {
  for (const name of fs.existsSync(kept) ? fs.readdirSync(kept) : []) {
    const old = path.join(kept, name);
    if (Date.now() - fs.statSync(old).mtimeMs > 3_600_000) fs.rmSync(old, { recursive: true, force: true });
  }
}

/** With owners and modes, which PostgreSQL checks and Node's own copy does not keep. */
function copyTree(from: string, to: string): void {
  execFileSync('cp', ['-a', `${from}/.`, to]);
}

/** Ends and removes what test runs left behind that were killed before they could. */
function sweep(): void {
  for (const name of fs.readdirSync(os.tmpdir())) {
    const [, owner] = /^sallyport-test-(\d+)-/.exec(name) ?? [];
    const directory = path.join(os.tmpdir(), name);
    // Another account's are its own to sweep, and another run may be sweeping the same one.
    if (!owner || isAlive(Number(owner)) || fs.statSync(directory, { throwIfNoEntry: false })?.uid !== process.getuid?.()) continue;
    const server = postmaster(path.join(directory, 'data'));
    if (server) process.kill(server.pid, 'SIGQUIT');
    fs.rmSync(directory, { recursive: true, force: true });
  }
}
