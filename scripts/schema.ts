import { createHash, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { isOutage } from '../server/kernel/errors.ts';
import { AUTHORSHIP, FIRST_ID, fillAuthorship } from '../server/platform/authorship.ts';
import { hashOf, Problem, refresh, root, run } from './command.ts';
import { databaseClient } from './database-client.ts';
import { roleProblem } from './database-role.ts';
import { versionProblemOf } from './database-version.ts';

const generated = path.join(root, 'server/generated/prisma');

/** The database doesn't answer, or takes nothing now: what was asked of it may work later. */
export class DatabaseAway extends Problem {}

/** Makes the database client from prisma/schema when the schema or the generator's version changed. */
export async function generateClient(): Promise<void> {
  const stamp = path.join(generated, '.made-from');
  const made = hashOf('prisma/schema', 'scripts/client-generator.ts', 'node_modules/@prisma/client-generator-ts/package.json');
  await refresh(stamp, made, async () => {
    const { code, output } = await run(process.execPath, ['scripts/client-generator.ts']);
    if (code !== 0) throw new Problem(`Generating the database client failed:\n${output.trim()}`);
  });
}

/**
 * Applies what is missing of prisma/migrations to a database that is whole, one transaction each, under an advisory lock, with Prisma's own bookkeeping table.
 * Not `prisma migrate deploy`: starting that tool costs a second, and a script half applied leaves a database to repair by hand.
 */
export async function migrate(url: string): Promise<void> {
  await applyMissing(url).catch((error: Error) => {
    if (error instanceof DatabaseAway || !isOutage(error)) throw error;
    throw new DatabaseAway(`The database is not responding: ${error.message}. Check DATABASE_URL.`);
  });
}

async function applyMissing(url: string): Promise<void> {
  const { missing } = await migrationState(url);
  const client = await connectOrCreate(url);
  try {
    const problem = await roleProblem(withoutSchema(url));
    if (problem) throw new Problem(problem);
    if (missing.length === 0) return;
    await client.query('select pg_advisory_lock(72707369)'); // two installers at once: the second finds nothing left to do
    await client.query(bookkeeping);
    const names = (await migrationState(url)).missing.sort();
    for (const name of names) await apply(client, name);
    if (names.includes(AUTHORSHIP)) await fillAuthorship((text, values) => client.query(text, values), FIRST_ID);
  } finally {
    await client.end().catch(() => {});
  }
}

const bookkeeping = `create table if not exists _prisma_migrations (id varchar(36) primary key, checksum varchar(64) not null, finished_at timestamptz,
  migration_name varchar(255) not null, logs text, rolled_back_at timestamptz, started_at timestamptz not null default now(), applied_steps_count integer not null default 0)`;

/** An empty server of the operator's own need not have our database yet. */
async function connectOrCreate(url: string): Promise<pg.Client> {
  const connect = async (address: string) => {
    const client = databaseClient(address);
    await client.connect();
    const problem = await versionProblemOf(client);
    if (problem === undefined) return client;
    await client.end();
    throw new Problem(problem);
  };
  try {
    return await connect(withoutSchema(url));
  } catch (error) {
    if ((error as { code?: string }).code !== '3D000') throw error;
  }
  const server = new URL(withoutSchema(url));
  const name = decodeURIComponent(server.pathname.slice(1));
  server.pathname = '/postgres';
  const admin = await connect(server.toString());
  try {
    await admin.query(`create database ${pg.escapeIdentifier(name)}`);
  } catch (error) {
    // Another installer may have made it at the same moment: either it exists, or its name was taken just now.
    if (!['42P04', '23505'].includes((error as { code?: string }).code ?? ''))
      throw new Problem(`The database ${name} does not exist and could not be created: ${(error as Error).message}`);
  } finally {
    await admin.end();
  }
  return connect(withoutSchema(url));
}

/** All calls that need a table wait behind a migration that waits for its lock: it gives up soon, lets them through and tries again, for some minutes in all. */
const LOCK_TIMEOUT = '1s';
const [TRIES, PAUSE_MS, LONGEST_PAUSE_MS] = [40, 250, 5_000];
/** lock_not_available, deadlock_detected, and query_canceled: a migration that locks many tables at once limits that statement. */
const LOCKED = ['55P03', '40P01', '57014'];

async function apply(client: pg.Client, name: string): Promise<void> {
  const sql = fs.readFileSync(path.join(root, 'prisma/migrations', name, 'migration.sql'), 'utf8');
  for (let tries = 1; ; tries++) {
    try {
      return await applyOnce(client, name, sql);
    } catch (error) {
      const { code = '', message } = error as Error & { code?: string };
      if (!LOCKED.includes(code)) {
        if (isOutage(error)) throw new DatabaseAway(`Migration ${name} waits: ${message}`);
        throw new Problem(`Migration ${name} failed and was rolled back: ${message}`);
      }
      if (tries === TRIES)
        throw new Problem(
          `Migration ${name} was rolled back: other transactions hold its tables. End long transactions of the database (see pg_stat_activity), then try again.`,
        );
      await sleep(Math.min(PAUSE_MS * tries, LONGEST_PAUSE_MS));
    }
  }
}

async function applyOnce(client: pg.Client, name: string, sql: string): Promise<void> {
  await client.query('begin');
  try {
    await client.query(`set local lock_timeout = '${LOCK_TIMEOUT}'`);
    await client.query(sql);
    await client.query(
      'insert into _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count) values ($1, $2, $3, now(), 1)',
      [randomUUID(), createHash('sha256').update(sql).digest('hex'), name],
    );
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

/** Names in prisma/migrations that the database lacks, and names it has that this version does not know. */
export async function migrationState(url: string): Promise<{ missing: string[]; unknown: string[] }> {
  const wanted = fs.existsSync('prisma/migrations')
    ? fs
        .readdirSync('prisma/migrations', { withFileTypes: true })
        .flatMap((entry) =>
          entry.isDirectory() && fs.existsSync(path.join(entry.parentPath, entry.name, 'migration.sql')) ? [entry.name] : [],
        )
    : [];
  const applied = await appliedMigrations(url);
  return { missing: wanted.filter((name) => !applied.includes(name)), unknown: applied.filter((name) => !wanted.includes(name)) };
}

/** Whether nothing was ever applied to the database, or there is none of that name. */
export const isNewDatabase = async (url: string): Promise<boolean> => (await appliedMigrations(url)).length === 0;

async function appliedMigrations(url: string): Promise<string[]> {
  const client = clientOf(url);
  try {
    await client.connect();
    const done = 'select migration_name from _prisma_migrations where finished_at is not null and rolled_back_at is null';
    return (await client.query<{ migration_name: string }>(done)).rows.map((row) => row.migration_name);
  } catch (error) {
    const code = (error as { code?: string }).code;
    if (code === '42P01' || code === '3D000') return []; // no such table, no such database: nothing was ever applied
    throw new DatabaseAway(`The database is not responding: ${String((error as Error).message || code)}. Check DATABASE_URL.`);
  } finally {
    await client.end().catch(() => {});
  }
}

/** A URL that names files of certificates reads them now. @throws Problem */
function clientOf(url: string): pg.Client {
  try {
    return databaseClient(withoutSchema(url));
  } catch (error) {
    throw new Problem(`DATABASE_URL can't be used: ${(error as Error).message}. Correct it.`);
  }
}

/** Prisma's own `schema` parameter means nothing to PostgreSQL. */
function withoutSchema(url: string): string {
  const parsed = new URL(url);
  const schema = parsed.searchParams.get('schema');
  parsed.searchParams.delete('schema');
  if (schema) parsed.searchParams.set('options', `-c search_path=${schema}`);
  return parsed.toString();
}
