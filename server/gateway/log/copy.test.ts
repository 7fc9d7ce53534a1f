import assert from 'node:assert/strict';
import test from 'node:test';
import pg from 'pg';
import { connection } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { copyRows } from './copy.ts';

await testDatabase();

type Thing = { id: number; text: string | null; list: string[]; data: object | null };
const columns = { id: 'plain', text: 'plain', list: 'array', data: 'json' } as const;

const hostile = [
  '',
  '\\N',
  '\\.',
  'a\tb',
  'a\nb',
  'a\r\nb',
  '\\',
  '\\\\n',
  '"',
  '{}',
  '{a,b}',
  'NULL',
  "'; drop table things",
  'ä€😀',
  ' padded ',
  '\u0001\u001f\u007f',
  ',',
];

async function withTable(work: (client: pg.PoolClient, all: () => Promise<Thing[]>) => Promise<void>): Promise<void> {
  const pool = new pg.Pool({ ...connection(), max: 1 });
  const client = await pool.connect();
  try {
    await client.query('create temporary table things (id int unique, text text, list text[], data jsonb)');
    await work(client, async () => (await client.query<Thing>('select * from things order by id')).rows);
  } finally {
    client.release(true);
    await pool.end();
  }
}

test('every text comes back as it was copied, as a column, in a list and in JSON', () =>
  withTable(async (client, all) => {
    const rows: Thing[] = hostile.map((text, id) => ({ id, text, list: [text, ...hostile], data: { [text || 'empty']: hostile } }));
    rows.push({ id: hostile.length, text: null, list: [], data: null });
    await copyRows(client, 'things', columns, rows);
    assert.deepEqual(await all(), rows);
  }));

test('a batch the database refuses leaves nothing behind, rejects with its code, and the connection goes on', () =>
  withTable(async (client, all) => {
    const row = (id: number): Thing => ({ id, text: 'x', list: [], data: {} });
    await assert.rejects(copyRows(client, 'things', columns, [row(1), row(2), row(1)]), { code: '23505' });
    await assert.rejects(copyRows(client, 'things', columns, [{ ...row(3), text: 'nul\0' }]), { code: '22021' });
    await assert.rejects(copyRows(client, 'nowhere', columns, [row(4)]), { code: '42P01' });
    assert.deepEqual(await all(), []);
    await copyRows(client, 'things', columns, [row(5)]);
    assert.deepEqual(await all(), [row(5)]);
  }));

test('many thousand rows go in one statement', () =>
  withTable(async (client, all) => {
    const rows = Array.from({ length: 20_000 }, (_, id): Thing => ({ id, text: 'x'.repeat(200), list: ['a', 'b'], data: { id } }));
    await copyRows(client, 'things', columns, rows);
    assert.equal((await all()).length, rows.length);
  }));
