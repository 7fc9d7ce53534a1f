import assert from 'node:assert/strict';
import test from 'node:test';
import pg from 'pg';
import { connection } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { COLUMNS, logLine } from './columns.ts';
import { array, type CopyColumns, copyIn, MESSAGE_HEAD, readCopyLine, text, word } from './copy.ts';
import type { LogRow } from './row.ts';

await ownDatabase();

type Thing = { id: number; text: string | null; list: string[]; data: object | null; flag: boolean | null };
const columns: CopyColumns<Thing> = [
  ['id', 'number'],
  ['text', 'text'],
  ['list', 'array'],
  ['data', 'json'],
  ['flag', 'boolean'],
];
const line = ({ id, text: some, list, data, flag }: Thing) =>
  `${word(id)}\t${text(some)}\t${array(list)}\t${text(data && JSON.stringify(data))}\t${word(flag)}\n`;
const copyRows = (client: pg.PoolClient, table: string, rows: readonly Thing[]) =>
  copyIn(client, table, columns, Buffer.from(' '.repeat(MESSAGE_HEAD) + rows.map(line).join('')));

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
    for (const row of rows) assert.deepEqual(readCopyLine(columns, line(row).slice(0, -1)), row);
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

test('every field of a log row is in its own column of the line, whatever callers and upstreams made of it', () => {
  const free: ReadonlySet<string> = new Set(['path', 'route_name', 'client_name', 'user_agent', 'error_detail']);
  const trace = { phases_ms: { inspect: 0.001 }, latency_phase: 'complete', request_headers: ['a'], response_headers: [], limits: {} };
  const valueFor = ([name, kind]: (typeof COLUMNS)[number], i: number) => {
    if (kind === 'number') return i;
    if (kind === 'boolean') return i % 2 === 0;
    if (kind === 'array') return [name, ...hostile];
    if (kind === 'json') return trace;
    return free.has(name) ? `${name}${hostile.join('')}` : name;
  };
  const row = Object.fromEntries(COLUMNS.map((column, i) => [column[0], valueFor(column, i)])) as unknown as LogRow;
  assert.deepEqual(readCopyLine(COLUMNS, logLine(row).slice(0, -1)), row);
  // A row that waited on the disk may be of a release that did not know every column.
  assert.equal(logLine({} as LogRow), `${COLUMNS.map(() => '\\N').join('\t')}\n`);
});

test('a line tells where its own call went, whatever rows with something in common came before it', () => {
  const row = Object.fromEntries(
    COLUMNS.map(([name, kind]) => [
      name,
      kind === 'array' ? [name] : kind === 'number' ? 1 : kind === 'boolean' ? true : kind === 'json' ? null : name,
    ]),
  );
  for (const [name, kind] of COLUMNS) {
    const other = kind === 'array' ? ['else'] : kind === 'number' ? 2 : kind === 'boolean' ? false : kind === 'json' ? null : 'else';
    const changed = [row, row, { ...row, [name]: other }, { ...row, [name]: other }, { ...row, [name]: null }, row] as unknown as LogRow[];
    for (const one of changed) assert.deepEqual(readCopyLine(COLUMNS, logLine(one).slice(0, -1)), one, name);
  }
});
