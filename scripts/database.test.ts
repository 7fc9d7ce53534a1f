import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { until } from '#server/testing/until.ts';
import { startDatabase } from './database.ts';

const root = process.getuid?.() === 0;

function folder(t: TestContext, name = ''): string {
  // Named so that the sweep of a later test run removes what a killed run leaves behind.
  const made = fs.mkdtempSync(path.join(os.tmpdir(), `sallyport-test-${process.pid}-`));
  t.after(() => fs.rmSync(made, { recursive: true, force: true }));
  return path.join(made, name);
}

async function ask(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

test('a server killed with SIGKILL comes back with every committed row', async (t) => {
  const directory = folder(t);
  const database = await startDatabase(directory);
  t.after(() => database.stop());
  await ask(database.url('postgres'), 'create table kept as select generate_series(1, 1000) as n');
  const pid = Number(fs.readFileSync(path.join(directory, 'data/postmaster.pid'), 'utf8').split('\n')[0]);
  process.kill(pid, 'SIGKILL');
  await until(async () => !(await database.answers()));
  await database.revive();
  assert.deepEqual(await ask(database.url('postgres'), 'select count(*)::int as n from kept'), [{ n: 1000 }]);
});

test('a second start finds the running server and says that it is not its own', async (t) => {
  const directory = folder(t);
  const first = await startDatabase(directory);
  t.after(() => first.stop());
  const second = await startDatabase(directory);
  assert.deepEqual([first.startedHere, second.startedHere], [true, false]);
  assert.equal(second.url('x'), first.url('x'));
});

test('the server has no TCP port and its files are closed to others', async (t) => {
  const directory = folder(t);
  const database = await startDatabase(directory);
  t.after(() => database.stop());
  assert.deepEqual(await ask(database.url('postgres'), 'show listen_addresses'), [{ listen_addresses: '' }]);
  assert.equal(fs.statSync(path.join(directory, 'data')).mode & 0o077, 0);
});

test('an interrupted first start is not taken for a database', async (t) => {
  const directory = folder(t);
  fs.mkdirSync(path.join(directory, 'data.new'), { recursive: true });
  fs.writeFileSync(path.join(directory, 'data.new/PG_VERSION'), '18\n');
  const database = await startDatabase(directory);
  t.after(() => database.stop());
  assert.ok(await database.answers());
});

test('a directory too deep for a unix socket works through a private short one', async (t) => {
  const database = await startDatabase(folder(t, 'd'.repeat(110)));
  t.after(() => database.stop());
  const socket = new URL(database.url('x')).searchParams.get('host') ?? '';
  t.after(() => fs.rmSync(socket, { recursive: true, force: true }));
  assert.ok(Buffer.byteLength(socket) < 90);
  assert.equal(fs.statSync(socket).mode & 0o077, 0);
});

test('root without user namespaces runs the server as nobody', { skip: root ? false : 'needs root' }, async (t) => {
  const directory = folder(t);
  fs.chmodSync(directory, 0o711);
  process.env.SALLYPORT_NO_USERNS = '1';
  t.after(() => delete process.env.SALLYPORT_NO_USERNS);
  const database = await startDatabase(path.join(directory, 'postgres'));
  t.after(() => database.stop());
  assert.equal(fs.statSync(path.join(directory, 'postgres/data')).uid, 65_534);
});
