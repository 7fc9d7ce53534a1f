import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import pg from 'pg';
import { closeDb } from '#server/platform/db.ts';
import { wipeKeys } from '#server/platform/keys.ts';

/**
 * A database of this test file's own, copied from the migrated template. Call it at the top of a test file, before anything reads the
 * environment: `await testDatabase()`. Needs TEST_PG_URL and TEST_PG_TEMPLATE, which `npm test` sets.
 */
export async function testDatabase(settings: Record<string, string> = {}): Promise<{ url: string; directory: string }> {
  const server = process.env.TEST_PG_URL;
  const template = process.env.TEST_PG_TEMPLATE;
  if (!server || !template) throw new Error('Run tests through `npm test <path>`: it starts the database they need.');
  const name = `t_${randomBytes(6).toString('hex')}`;
  await asAdmin(server, `create database ${name} template ${template}`);
  const url = server.replace(/\/postgres(\?|$)/, `/${name}$1`);
  const directory = mkdtempSync(path.join(tmpdir(), 'sallyport-file-'));
  Object.assign(process.env, {
    DATABASE_URL: url,
    DATA_DIR: directory,
    DEFAULT_PLAN: 'enterprise',
    UPSTREAM_PRIVATE_ALLOWLIST: '127.0.0.0/8,::1/128',
    ...settings,
  });
  after(async () => {
    await closeDb();
    wipeKeys();
    await asAdmin(server, `drop database if exists ${name} with (force)`);
    rmSync(directory, { recursive: true, force: true });
  });
  return { url, directory };
}

async function asAdmin(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
