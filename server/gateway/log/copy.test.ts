import assert from 'node:assert/strict';
import test from 'node:test';
import pg from 'pg';
import { connection } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { type CopyColumns, copyIn, copyLine, MESSAGE_HEAD, readCopyLine } from './copy.ts';

await testDatabase();

type Thing = { id: number; text: string | null; list: string[]; data: object | null; flag: boolean | null };
const columns: CopyColumns<Thing> = [
  ['id', 'number'],
  ['text', 'text'],
  ['list', 'array'],
  ['data', 'json'],
  ['flag', 'boolean'],
];
const copyRows = (client: pg.PoolClient, table: string, rows: readonly Thing[]) =>
  copyIn(client, table, columns, Buffer.from(' '.repeat(MESSAGE_HEAD) + rows.map((row) => copyLine(columns, row)).join('')));

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
  // The file's database is dropped while its last connection may still be closing.
  client.on('error', () => undefined);
  try {
    await client.query('create temporary table things (id int unique, text text, list text[], data jsonb, flag boolean)');
    await work(client, async () => (await client.query<Thing>('select * from things order by id')).rows);
  } finally {
    client.release(true);
    await pool.end();
  }
}

test('every text comes back as it was copied, as a column, in a list and in JSON, and out of its line', () =>
  withTable(async (client, all) => {
    const rows: Thing[] = hostile.map((text, id) => ({
      id,
      text,
      list: [text, ...hostile],
      data: { [text || 'empty']: hostile },
      flag: id % 2 === 0,
    }));
    rows.push({ id: hostile.length, text: null, list: [], data: null, flag: null });
    await copyRows(client, 'things', rows);
    assert.deepEqual(await all(), rows);
    for (const row of rows) assert.deepEqual(readCopyLine(columns, copyLine(columns, row).slice(0, -1)), row);
  }));

test('a batch the database refuses leaves nothing behind, rejects with its code, and the connection goes on', () =>
  withTable(async (client, all) => {
    const row = (id: number): Thing => ({ id, text: 'x', list: [], data: {}, flag: true });
    await assert.rejects(copyRows(client, 'things', [row(1), row(2), row(1)]), { code: '23505' });
    await assert.rejects(copyRows(client, 'things', [{ ...row(3), text: 'nul\0' }]), { code: '22021' });
    await assert.rejects(copyRows(client, 'nowhere', [row(4)]), { code: '42P01' });
    assert.deepEqual(await all(), []);
    await copyRows(client, 'things', [row(5)]);
    assert.deepEqual(await all(), [row(5)]);
  }));

test('many thousand rows go in one statement', () =>
  withTable(async (client, all) => {
    const rows = Array.from(
      { length: 20_000 },
      (_, id): Thing => ({ id, text: 'x'.repeat(200), list: ['a', 'b'], data: { id }, flag: false }),
    );
    await copyRows(client, 'things', rows);
    assert.equal((await all()).length, rows.length);
  }));
