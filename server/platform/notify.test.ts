import assert from 'node:assert/strict';
import test from 'node:test';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { closeDb } from './db.ts';
import { listen } from './notify.ts';
import { sql } from './sql.ts';

await testDatabase();

const announce = (text: string) => sql().query("select pg_notify('heard', $1)", [text]);
const connections = async () =>
  (await sql().query("select from pg_stat_activity where application_name = 'sallyport-listen' and datname = current_database()")).rowCount;

test('a connection that was cut is replaced, and what was announced meanwhile is asked for', async () => {
  const heard: string[] = [];
  let connected = 0;
  const listener = listen({ channels: ['heard'], onMessage: (_, text) => heard.push(text), onConnect: () => connected++ });
  await until(() => connected === 1);
  await announce('first');
  await until(() => heard.length === 1);
  await sql().query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sallyport-listen' and datname = current_database()",
  );
  await until(() => connected === 2);
  await announce('second');
  await until(() => heard.length === 2);
  assert.deepEqual(heard, ['first', 'second']);
  await listener.close();
  await until(async () => (await connections()) === 0);
});

test('who closes the database closes every listener, also one that whoever had it has forgotten', async () => {
  let connected = 0;
  listen({ channels: ['heard'], onMessage: () => {}, onConnect: () => connected++ });
  listen({ channels: ['heard'], onMessage: () => {} }); // still connecting
  await until(() => connected === 1);
  await closeDb();
  await until(async () => (await connections()) === 0);
});
