import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import { perform } from '#server/api/perform.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { db } from '#server/platform/db.ts';
import { call } from '../calls.ts';
import { made } from '../factories.ts';
import { observed } from '../observed.ts';
import { sampled } from '../thorough.ts';
import { type Workspace, workspace } from '../workspace.ts';
import { addressOf } from './send.ts';
import type { Subject } from './subject.ts';

/** Page arithmetic of interface rule 01 §6.1 at its edges, on every paged list. */
export function paging(subject: Subject): void {
  clampsNumbers(subject);
  passesNothingOver(subject);
  const list = subject.v1.find((op) => op.list === 'paged' && op.id === `${tableOf(subject)}.list`);
  if (!list || !subject.fixture.samples[`${tableOf(subject)}.create`]) return;
  losesNoRow(subject, list);
}

/** The table whose rows the family's own list shows: it is called like the family. */
const tableOf = ({ name }: Subject) => name.replaceAll('-', '_');

const CEILING = 100_000n;

/** The rule once more, in whole numbers of any size, so that it cannot share a rounding fault with what it judges. */
export function expectedPage(page: string, perPage: string, total: number) {
  const between = (n: bigint, low: bigint, high: bigint) => (n < low ? low : n > high ? high : n);
  const size = between(BigInt(perPage), 1n, 100n);
  const last = CEILING / size + 1n;
  const pages = (BigInt(total) + size - 1n) / size;
  return {
    total,
    page: Number(between(BigInt(page), 1n, last)),
    per_page: Number(size),
    total_pages: Number(pages < last ? pages : last),
  };
}

const CLAMPED = ['-1', '0', '-0', '1', '2', '33', '100', '101', '1001', '5001', '2147483647', '2147483648', '-2147483649', '1000000000'];
CLAMPED.push('9007199254740991', '9007199254740993', '-9007199254740993', '18446744073709551616', '100000000000000000000000000000');
const NONSENSE = [
  '',
  ' ',
  'abc',
  '1.5',
  '-1.5',
  '1.',
  '1e3',
  '0x10',
  'NaN',
  'Infinity',
  '1,5',
  '1 000',
  '--1',
  '+',
  '-',
  'null',
  'true',
  '[]',
  '{}',
];
NONSENSE.push('١', '１', '1\u0000', '1\n', "1' or '1'='1", '1;', '1'.repeat(5_000));

function clampsNumbers({ v1, sample }: Subject): void {
  describe('every paged list clamps numbers that are out of range, says so, and refuses what is no whole number', () => {
    for (const op of v1.filter((one) => one.list === 'paged' && one.http.startsWith('GET ')))
      test(op.id, async () => {
        const w = await workspace();
        const key = await w.credentialFor(op);
        const { path } = addressOf(op, await sample(op, w.live));
        const total: number = (await call('GET', path, { key })).body.meta.total;
        for (const value of sampled(CLAMPED, 5, op.id))
          for (const [page, perPage] of [
            [value, '20'],
            ['1', value],
            [value, value],
          ] as const) {
            const { status, body, text } = await call('GET', `${path}?page=${page}&per_page=${perPage}`, { key });
            assert.equal(status, 200, `page ${page}, per_page ${perPage}: ${text}`);
            const { request_id, warnings = [], ...meta } = body.meta;
            const expected = expectedPage(page, perPage, total);
            assert.deepEqual(meta, expected, `page ${page}, per_page ${perPage}`);
            const other = [
              ...(BigInt(perPage) === BigInt(expected.per_page) ? [] : ['per_page must']),
              ...(BigInt(page) === BigInt(expected.page) ? [] : [BigInt(page) < 1n ? 'page must' : 'This is page']),
            ];
            assert.equal(warnings.length, other.length, `page ${page}, per_page ${perPage}: ${JSON.stringify(warnings)}`);
            for (const [at, start] of other.entries()) assert.ok(warnings[at].startsWith(start), warnings[at]);
            assert.ok(request_id && body.data.length <= meta.per_page);
          }
        for (const value of sampled(NONSENSE, 5, op.id))
          for (const name of ['page', 'per_page']) {
            const { status, body, text } = await call('GET', `${path}?${new URLSearchParams({ [name]: value })}`, { key });
            assert.deepEqual(
              [status, body.error?.type],
              [400, 'validation_error'],
              `${name}=${JSON.stringify(value).slice(0, 60)}: ${text}`,
            );
            assert.ok(body.error.message.startsWith(`${name}: `), body.error.message);
          }
        const query = op.input.shape;
        for (const bad of [
          'page=1&page=2',
          ...(query.sort ? ['sort=password', 'sort=id;drop', 'sort=', 'sort=__proto__', 'order=up', 'order='] : []),
        ])
          assert.equal((await call('GET', `${path}?${bad}`, { key })).body.error?.type, 'validation_error', bad);
      });
  });
}

/** A statement that passes over so many rows has been asked to without a look at how many there are. */
const FAR = 20_000;

function passesNothingOver({ operations, sample, caller }: Subject): void {
  const paged = operations.filter((op) => op.input.shape?.page && op.input.shape.per_page);
  if (paged.length === 0) return;
  describe('no paged list, of the API or of the dashboard, has the database pass over rows for a page behind the last', () => {
    for (const op of paged)
      test(op.id, async () => {
        const w = await workspace();
        const ctx = caller(op, w);
        const input = { ...(await sample(op, ctx)), page: 5001, per_page: 20 };
        const { statements } = await observed(() => perform(op, ctx, input));
        for (const { text, values } of statements) {
          if (!/\b(?:offset|limit)\b/i.test(text)) continue;
          const numbers = [...(values ?? []), ...[...text.matchAll(/\b(?:offset|limit) +(\d+)/gi)].map(([, n]) => n)].map(Number);
          assert.ok(!numbers.some((n) => n >= FAR && n <= 200_000), `${text.slice(0, 300)} with ${JSON.stringify(values)}`);
        }
      });
  });
}

const ROWS = 23;
type Row = { id: string };
type Place = Record<string, unknown>;

function losesNoRow(subject: Subject, list: AnyOperation): void {
  const sorts: string[] = Object.keys(list.input.shape.sort.def.innerType.def.entries);
  test('all pages together are the whole list, each row once, in every sort and direction', async () => {
    const { key, place } = await filled(subject, list);
    for (const sort of sorts)
      for (const order of ['asc', 'desc']) {
        const query = `&sort=${sort}&order=${order}`;
        const { pages, total } = await page(list, place, key, 1, query);
        const parts: string[] = [];
        for (let n = 1; n <= pages; n++) parts.push(...(await page(list, place, key, n, query)).ids);
        assert.equal(total, parts.length, `${sort} ${order}`);
        assert.equal(new Set(parts).size, parts.length, `${sort} ${order}: a row came twice`);
        assert.deepEqual(parts, (await page(list, place, key, 1, query, 100)).ids, `${sort} ${order}`);
        assert.deepEqual((await page(list, place, key, pages + 1, query)).ids, []);
      }
  });

  if (!sorts.includes('created_at')) return;
  test('rows inserted while a list is read never hide a row that was there before, and never repeat one when new rows come last', async () => {
    const { w, key, place } = await filled(subject, list);
    const before = (await page(list, place, key, 1, '&sort=created_at&order=asc', 100)).ids;
    const added: string[] = [];
    const walk = async (order: string) => {
      const seen: string[] = [];
      for (let n = 1; ; n++) {
        const { ids, pages } = await page(list, place, key, n, `&sort=created_at&order=${order}`);
        seen.push(...ids);
        if (n >= pages) return seen;
        if (added.length < 12) added.push(await add(subject, w, place));
      }
    };
    const rising = await walk('asc');
    assert.deepEqual(rising, [...before, ...added].slice(0, rising.length));
    assert.ok(rising.length >= before.length);
    const start = new Set([...before, ...added]);
    const falling = await walk('desc');
    assert.deepEqual(
      [...start].filter((id) => !falling.includes(id)),
      [],
    );
  });
}

/** By a call of its own, as each caller makes one: a row's created_at is the moment of the call that made it. */
async function add(subject: Subject, w: Workspace, place: Place): Promise<string> {
  const ctx = w.ctx('live');
  const create = `${tableOf(subject)}.create`;
  return (await made(ctx, create, { ...(await subject.fixture.samples[create]?.(ctx)), ...place })).id;
}

/** Half of them share their instant, so that only the last sort key can tell them apart. */
async function filled(subject: Subject, list: AnyOperation) {
  const w = await workspace();
  const { text: key } = await w.key('live');
  const place = await placeOf(subject, list, w);
  for (let i = 0; i < ROWS; i++) await add(subject, w, place);
  const at = new Date(Date.now() - 60_000).toISOString();
  await db().$executeRawUnsafe(
    `update ${tableOf(subject)} set created_at = $1::timestamptz where tenant_id = $2::uuid and ascii(right(id::text, 1)) % 2 = 0`,
    at,
    w.tenant.id,
  );
  return { w, key, place };
}

/** The IDs in the path of a list that shows what is below another resource: its rows are all made there. */
async function placeOf({ fixture }: Subject, list: AnyOperation, w: Workspace): Promise<Place> {
  const names = [...list.http.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const sample = names.length > 0 ? await fixture.samples[list.id]?.(w.ctx('live')) : undefined;
  return Object.fromEntries(names.map((name) => [name, sample?.[name]]));
}

async function page(
  op: AnyOperation,
  place: Place,
  key: string,
  n: number,
  query: string,
  size = 5,
): Promise<{ ids: string[]; pages: number; total: number }> {
  const { body, text } = await call('GET', `${addressOf(op, place).path}?page=${n}&per_page=${size}${query}`, { key });
  assert.ok(body.data, text);
  return { ids: body.data.map((row: Row) => row.id), pages: body.meta.total_pages, total: body.meta.total };
}
