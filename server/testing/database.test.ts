import assert from 'node:assert/strict';
import test from 'node:test';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { assertOwnDatabase, testDatabase } from './database.ts';
import { refuseInserts } from './refused-inserts.ts';

// As something that a file before left behind may do, when no database is lent.
sql();
const { url } = await testDatabase();

test('every connection of the file is one to its database', async () => {
  const { rows } = await sql().query<{ name: string }>('select current_database() as name');
  assert.equal(rows[0]?.name, new URL(url).pathname.slice(1));
});

test('a file that has its database together with others may not change the schema', async () => {
  for (const change of [
    'drop policy own_space on secrets',
    'create table left_behind (n int)',
    'alter table secrets disable row level security',
  ])
    await assert.rejects(sql().query(change), /the file must call ownDatabase/, change);
});

test('nor may it work on all workspaces there are', () => {
  assert.throws(assertOwnDatabase, /the file must call ownDatabase/);
});

test('rows with the refused value alone are refused, and after the release none', async () => {
  const [refused, other] = [`${newId()}@database.example`, `${newId()}@database.example`];
  const insert = (email: string) => db().users.create({ data: { id: newId(), email } });
  const release = await refuseInserts('users', 'email', refused);
  await insert(other);
  await assert.rejects(insert(refused), /users takes no row/);
  await release();
  await insert(refused);
});
