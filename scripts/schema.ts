import fs from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { hashOf, Problem, refresh, root, run } from './command.ts';

const generated = path.join(root, 'server/generated/prisma');
const prisma = path.join(root, 'node_modules/prisma/build/index.js');

/** Makes the database client from prisma/schema when the schema or the generator's version changed. */
export async function generateClient(): Promise<void> {
  const stamp = path.join(generated, '.made-from');
  await refresh(stamp, hashOf('prisma/schema', 'prisma.config.ts', 'node_modules/prisma/package.json'), async () => {
    await runPrisma(['generate'], 'postgresql://postgres@127.0.0.1:5432/unset');
  });
}

/** Applies what is missing of prisma/migrations. The usual case, nothing, costs one query and not the start of a tool. */
export async function migrate(url: string): Promise<void> {
  const { missing } = await migrationState(url);
  if (missing.length > 0) await runPrisma(['migrate', 'deploy'], url);
}

/** Names in prisma/migrations that the database lacks, and names it has that this version does not know. */
export async function migrationState(url: string): Promise<{ missing: string[]; unknown: string[] }> {
  const wanted = fs.existsSync('prisma/migrations')
    ? fs.readdirSync('prisma/migrations', { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
    : [];
  const applied = await appliedMigrations(url);
  return { missing: wanted.filter((name) => !applied.includes(name)), unknown: applied.filter((name) => !wanted.includes(name)) };
}

async function appliedMigrations(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: withoutSchema(url), connectionTimeoutMillis: 10_000 });
  try {
    await client.connect();
    const done = 'select migration_name from _prisma_migrations where finished_at is not null and rolled_back_at is null';
    return (await client.query<{ migration_name: string }>(done)).rows.map((row) => row.migration_name);
  } catch (error) {
    const code = (error as { code?: string }).code;
    if (code === '42P01' || code === '3D000') return []; // no such table, no such database: nothing was ever applied
    throw new Problem(`The database does not answer: ${String((error as Error).message || code)}. Check DATABASE_URL.`);
  } finally {
    await client.end().catch(() => {});
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

async function runPrisma(args: readonly string[], url: string): Promise<void> {
  const { code, output } = await run(process.execPath, [prisma, ...args], { env: { DATABASE_URL: url } });
  if (code !== 0) throw new Problem(`prisma ${args.join(' ')} failed:\n${output.trim()}`);
}
