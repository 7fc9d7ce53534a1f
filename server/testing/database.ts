import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { writeCounts } from '#server/custody/counts.ts';
import { wipeMaterial } from '#server/custody/material.ts';
import { flushUses } from '#server/custody/uses.ts';
import { patience } from '#server/kernel/fair-queue.ts';
import { closeDb } from '#server/platform/db.ts';
import { wipeKeys } from '#server/platform/keys.ts';
import { onFileEnd, rereadSettings } from './file-end.ts';

type TestDatabase = { url: string; directory: string };

/**
 * A database copied from the migrated template. Call it at the top of a test file, before anything reads the environment: `await testDatabase()`.
 * Files that run one after the other in a process have it together: a test makes its own workspaces and counts nothing beyond them. With settings it is
 * the file's own. Needs TEST_PG_URL and TEST_PG_TEMPLATE, which `npm test` sets.
 */
export async function testDatabase(settings: Record<string, string> = {}): Promise<TestDatabase> {
  const own = Object.keys(settings).length > 0;
  if (ofFile && own) throw new Error('This file has a database already: give the settings with the first call.');
  ofFile ??= own ? ownDatabase(settings) : shared().then((name) => lend(name, {}, lent?.rootKey));
  return ofFile;
}

/** The same for a file whose tests look at all workspaces there are, as jobs do: no other file has it. */
export async function ownDatabase(settings: Record<string, string> = {}): Promise<TestDatabase> {
  const created = create();
  ownedByFile = true;
  onFileEnd(async () => {
    ownedByFile = false;
    await drop(await created);
  });
  ofFile = created.then((name) => lend(name, settings));
  return ofFile;
}

/** Of the file whose tests run. */
let ofFile: Promise<TestDatabase> | undefined;
let ownedByFile = false;

/** @throws in a file that has its database together with others, for what works on all workspaces there are */
export function assertOwnDatabase(): void {
  if (!ownedByFile) throw new Error('This looks at all workspaces: the file must call ownDatabase().');
}

/** More files would leave so many workspaces that a gateway, which loads them all, starts slowly. */
const FILES_TOGETHER = 8;
let lent: { name: Promise<string>; files: number; rootKey: string } | undefined;

async function shared(): Promise<string> {
  if (lent?.files === FILES_TOGETHER) {
    await drop(await lent.name);
    lent = undefined;
  }
  // Each file after the first must open what the one before sealed for the deployment.
  lent ??= { name: create().then(fixSchema), files: 0, rootKey: randomBytes(32).toString('base64') };
  lent.files++;
  return lent.name;
}

/** What a file changed in the schema would break the files after it: a policy that was dropped, in a test that has long passed. */
async function fixSchema(name: string): Promise<string> {
  const work = (client: pg.Client) =>
    client.query(`create schema testing; create function testing.fixed_schema() returns event_trigger language plpgsql as $$ begin
        raise exception 'This changes the schema (%): the file must call ownDatabase().', tg_tag; end $$;
      create event trigger fixed_schema on ddl_command_start execute function testing.fixed_schema()`);
  await asAdmin(work, urlOf(name));
  return name;
}

const urlOf = (name: string) => server().replace(/\/postgres(\?|$)/, `/${name}$1`);

/** Makes a database that of the file that runs, until the file ends. */
async function lend(name: string, settings: Record<string, string> = {}, rootKey?: string): Promise<TestDatabase> {
  const url = urlOf(name);
  const directory = mkdtempSync(path.join(tmpdir(), 'sallyport-file-'));
  if (rootKey) writeFileSync(path.join(directory, 'master.key'), `${rootKey}\n`, { mode: 0o600 });
  Object.assign(process.env, {
    DATABASE_URL: url,
    DATA_DIR: directory,
    DEFAULT_PLAN: 'enterprise',
    UPSTREAM_PRIVATE_ALLOWLIST: '127.0.0.0/8,::1/128',
    ...settings,
  });
  // What a file before left behind may have read settings and connected meanwhile.
  rereadSettings();
  patience.ms = 60_000;
  await closeDb();
  onFileEnd(async () => {
    ofFile = undefined;
    await Promise.all([flushUses(), writeCounts()]);
    wipeMaterial();
    await closeDb();
    wipeKeys();
    rmSync(directory, { recursive: true, force: true });
  });
  return { url, directory };
}

async function create(): Promise<string> {
  const template = process.env.TEST_PG_TEMPLATE;
  if (!template) throw new Error(MISSING);
  const name = `t_${randomBytes(6).toString('hex')}`;
  await asAdmin((client) => client.query(`create database ${name} template ${template} strategy file_copy`)); // as pages it would be a log of 11 MB
  return name;
}

/** Connections that a test has closed may still be on their way out: ended by force, they would fail the file with an error nobody waits for. */
async function drop(name: string): Promise<void> {
  await asAdmin(async (client) => {
    const connected = async () => (await client.query('select from pg_stat_activity where datname = $1 limit 1', [name])).rowCount !== 0;
    for (let tries = 0; tries < 100 && (await connected()); tries++) await setTimeout(20);
    await client.query(`drop database if exists ${name} with (force)`);
  });
}

const MISSING = 'Run tests through `npm test <path>`: it starts the database they need.';

function server(): string {
  if (!process.env.TEST_PG_URL) throw new Error(MISSING);
  return process.env.TEST_PG_URL;
}

async function asAdmin(work: (client: pg.Client) => Promise<unknown>, url = server()): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
