import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { writeCounts } from '#server/custody/counts.ts';
import { wipeMaterial } from '#server/custody/material.ts';
import { flushUses } from '#server/custody/uses.ts';
import { closeDb } from '#server/platform/db.ts';
import { wipeKeys } from '#server/platform/keys.ts';

type TestDatabase = { url: string; directory: string };

/**
 * A database copied from the migrated template. Call it at the top of a test file, before anything reads the environment: `await testDatabase()`.
 * Files without settings of their own may share a process (`scripts/test-groups.ts`) and then have one together: a test makes its own workspaces and
 * counts nothing beyond them. Needs TEST_PG_URL and TEST_PG_TEMPLATE, which `npm test` sets.
 */
export async function testDatabase(settings: Record<string, string> = {}): Promise<TestDatabase> {
  if (database && Object.keys(settings).length > 0) throw new Error('A file with settings of its own needs a process of its own.');
  database ??= create(settings);
  return database;
}
let database: Promise<TestDatabase> | undefined;

/** The same for a file whose tests look at all workspaces there are, as jobs do: it shares it with no other. */
export const ownDatabase = testDatabase;

async function create(settings: Record<string, string>): Promise<TestDatabase> {
  const server = process.env.TEST_PG_URL;
  const template = process.env.TEST_PG_TEMPLATE;
  if (!server || !template) throw new Error('Run tests through `npm test <path>`: it starts the database they need.');
  const name = `t_${randomBytes(6).toString('hex')}`;
  await asAdmin(server, `create database ${name} template ${template} strategy file_copy`); // as pages it would be a log of 11 MB
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
    for (const close of users.reverse()) await close();
    await Promise.all([flushUses(), writeCounts()]);
    wipeMaterial();
    await closeDb();
    wipeKeys();
    await dropDatabase(server, name);
    rmSync(directory, { recursive: true, force: true });
    endAnyway();
  });
  return { url, directory };
}

/** A server that a test left open would hold this process, and with it the whole run, for ever. */
function endAnyway(): void {
  const giveUp = () => {
    console.error(`This process is still held a minute after its tests, by ${process.getActiveResourcesInfo().join(', ')}.`);
    process.exit(1);
  };
  globalThis.setTimeout(giveUp, 60_000).unref();
}

const users: (() => Promise<unknown>)[] = [];
/** Closes what has connections of its own to the file's database before that goes; hooks run in their order, and that of the database is the first. */
export function onBeforeDatabaseClose(close: () => Promise<unknown>): void {
  users.push(close);
}

/** Connections that a test has closed may still be on their way out: ended by force, they would fail the file with an error nobody waits for. */
async function dropDatabase(server: string, name: string): Promise<void> {
  await withAdmin(server, async (client) => {
    const connected = async () => (await client.query('select from pg_stat_activity where datname = $1 limit 1', [name])).rowCount !== 0;
    for (let tries = 0; tries < 100 && (await connected()); tries++) await setTimeout(20);
    await client.query(`drop database if exists ${name} with (force)`);
  });
}

const asAdmin = (url: string, statement: string) => withAdmin(url, (client) => client.query(statement));

async function withAdmin(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
