import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import pg from 'pg';
import { type Database, startDatabase } from '../../scripts/database.ts';
import { migrate } from '../../scripts/schema.ts';
import { until } from '../testing/until.ts';

// A server of its own, because it is stopped under the worker's feet.
const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'sallyport-worker-'));
const key = randomBytes(32).toString('base64');
const children: ChildProcess[] = [];
const server: Database = await startDatabase(directory, ['fsync=off']);
await server.create('app');
const url = server.url('app');
await migrate(url);
test.after(async () => {
  for (const child of children) if (child.exitCode === null) child.kill('SIGKILL');
  await server.stop();
  fs.rmSync(directory, { recursive: true, force: true });
});

async function ask<T extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<T>(text, values)).rows;
  } finally {
    await client.end();
  }
}

function worker(masterKey = key): { child: ChildProcess; output: () => string; ready: Promise<void>; ended: Promise<number | null> } {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', 'server/jobs/main.ts'], {
    env: { ...process.env, DATABASE_URL: url, DATA_DIR: directory, MASTER_KEY_B64: masterKey, LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  children.push(child);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.on('exit', (code) => resolve(code)));
  const ready = new Promise<void>((resolve, reject) => {
    child.on('message', () => resolve());
    void ended.then(() => reject(new Error(`the worker ended early: ${text}`)));
  });
  ready.catch(() => {});
  return { child, output: () => text, ready, ended };
}

/** A lease on a workspace without values: the job that serves it marks it done. */
async function lease(): Promise<string> {
  const tenant = (await ask<{ id: string }>("select id from tenants where slug = 'w'"))[0]!.id;
  const [row] = await ask<{ id: string }>(
    'insert into rewrap_leases (tenant_id, from_version, to_version) values ($1, 0, 1) returning id',
    [tenant],
  );
  await ask("select enqueue_job('rewrap', jsonb_build_object('lease_id', $1::text), null, null, 3)", [row!.id]);
  return row!.id;
}
const isDone = async (id: string) =>
  (await ask('select 1 from rewrap_leases where id = $1 and completed_at is not null', [id])).length === 1;

test('the worker prepares its queue, does what is asked, survives the loss of the database and stops on SIGTERM', async () => {
  const w = worker();
  await w.ready;
  const { newTenantKey } = await import('#server/crypto/tenant-key.ts');
  const { parseRootKey } = await import('#server/crypto/root-key.ts');
  const tenant = '11111111-2222-4333-8444-555555555555';
  const wrapped = newTenantKey(parseRootKey(key, 'key'), tenant, 1);
  await ask("insert into tenants (id, slug, name, updated_at) values ($1, 'w', 'W', now())", [tenant]);
  await ask('insert into tenant_master_keys (id, tenant_id, version, wrapped_key, root_key_id) values (gen_random_uuid(), $1, 1, $2, $3)', [
    tenant,
    wrapped.wrapped_key,
    wrapped.root_key_id,
  ]);
  const first = await lease();
  await until(() => isDone(first), 'the first job is done');
  await until(
    async () => (await ask("select 1 from pg_class where relname ~ '^request_logs_[0-9]{8}$' and relkind = 'r'")).length >= 3,
    'the partitions of the days to come exist',
  );

  await server.stop();
  // One that lost it while it ended a job has stopped, and begins anew.
  await until(() => /Error with notify listener|cannot run the job queue/.test(w.output()), 'the queue has lost the database');
  await server.revive();
  const second = await lease();
  await until(() => isDone(second), 'a job queued after the restart is done');

  w.child.kill('SIGTERM');
  assert.equal(await w.ended, 0, w.output());
});

test('a starting worker removes jobs of former names from the queue', async () => {
  await ask("select graphile_worker.add_job('tidy_people')");
  const w = worker();
  await w.ready;
  assert.deepEqual(await ask("select 1 from graphile_worker.jobs where task_identifier = 'tidy_people'"), []);
  w.child.kill('SIGTERM');
  await w.ended;
});

test('a worker with a root key that does not fit the database refuses to start and says which key is needed', async () => {
  const w = worker(randomBytes(32).toString('base64'));
  assert.equal(await w.ended, 1);
  assert.match(w.output(), /the root key doesn't match this database: 1 tenant key is wrapped by root key [0-9a-f]{8}/);
  assert.ok(!w.output().includes(key));
});
