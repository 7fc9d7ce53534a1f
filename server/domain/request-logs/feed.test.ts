import assert from 'node:assert/strict';
import test from 'node:test';
import type { Ctx } from '#server/kernel/context.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { keyActor, workspace } from '#server/testing/workspace.ts';
import { insert, row } from './rows.fixture.ts';
import { FollowLogs, RequestLog } from './schema.ts';
import { followLogs, getLog } from './service.ts';

await testDatabase();
const follow = (ctx: Ctx, query: Record<string, unknown> = {}) => followLogs({ ...ctx, now: new Date() }, FollowLogs.parse(query));
const TWELVE = [
  'id',
  'request_id',
  'tenant_id',
  'route_id',
  'matched_client_id',
  'identification_method',
  'method',
  'status_code',
  'src_ip',
  'environment',
  'sandbox',
  'ts',
];

test('a reader that resumes by cursor gets every row once, in order of id, until drained', async () => {
  const w = await workspace();
  const rows = Array.from({ length: 25 }, (_, i) => row(w.tenant.id, { path: `/${i}` }));
  await insert(rows);
  const got: string[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < 4; page++) {
    const { rows: data, meta } = await follow(w.live, { limit: 10, ...(cursor ? { cursor } : {}) });
    got.push(...data.map((r) => r.request_id));
    if (meta.next_cursor === null) break;
    cursor = String(meta.next_cursor);
  }
  assert.deepEqual(
    got,
    rows.map((r) => r.request_id),
  );
  const [first] = (await follow(w.live, { limit: 1 })).rows;
  assert.equal((await follow(w.live, { cursor: first!.cursor })).rows.length, 24, 'the cursor of a row resumes after it');
});

test('ids beyond 2^53 leave as exact decimal text, and the leaf fields come first in their order', async () => {
  const w = await workspace();
  const [id] = await insert([row(w.tenant.id)]);
  const { rows } = await follow(w.live);
  const wire = RequestLog.parse(rows[0]);
  assert.equal(wire.id, String(id));
  assert.ok(BigInt(wire.id) > 2n ** 53n);
  assert.deepEqual(Object.keys(wire).slice(0, 12), TWELVE);
  assert.match(wire.ts, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test('ids say when a call was logged, and nothing about how many others were', async () => {
  const [mine, other] = [await workspace(), await workspace()];
  const between = async (calls: number) => {
    const [first] = await insert([row(mine.tenant.id)]);
    if (calls > 0) await insert(Array.from({ length: calls }, () => row(other.tenant.id)));
    const [second] = await insert([row(mine.tenant.id)]);
    const micros = (id: bigint | undefined) => Number((id ?? 0n) >> 11n);
    return { first: micros(first), second: micros(second) };
  };
  for (const calls of [0, 500]) {
    const began = Date.now() * 1_000;
    const { first, second } = await between(calls);
    const ended = (Date.now() + 1) * 1_000;
    assert.ok(began <= first && first < second && second <= ended, `${began} ${first} ${second} ${ended}`);
  }
  const batch = await insert(Array.from({ length: 300 }, () => row(mine.tenant.id)));
  assert.equal(new Set(batch).size, 300);
  assert.ok(new Set(batch.map((id) => id & 2047n)).size > 200, 'the low bits are random');
});

test('a clock that was set back never brings an ID that a reader has passed', async () => {
  const w = await workspace();
  const [told] = (await sql().query<{ id: string }>("select feed_horizon('request_logs') as id")).rows;
  const { rows } = await sql().query<{ us: string }>("select setval('request_logs_id_seq', log_clock() + 60000000) as us");
  const [id] = await insert([row(w.tenant.id)]);
  assert.ok((id ?? 0n) >> 11n >= BigInt(rows[0]?.us ?? 0) && (id ?? 0n) > BigInt(told?.id ?? 0));
  const { rows: after } = await sql().query<{ id: string }>("select feed_horizon('request_logs') as id");
  await sql().query("select setval('request_logs_id_seq', (extract(epoch from clock_timestamp()) * 1000000)::bigint)");
  assert.ok(BigInt(after[0]?.id ?? 0) < (id ?? 0n), 'the row is not settled before the clock has passed it');
});

test('without log:read_identity the identity tier is absent and the answer says so', async () => {
  const w = await workspace();
  const [target] = [row(w.tenant.id)];
  await insert([target!]);
  const blind = { ...w.live, actor: keyActor('Key - Read-only') };
  const { rows, meta } = await follow(blind);
  for (const field of ['src_ip', 'matched_client_id', 'identification_method', 'user_agent', 'client_name'])
    assert.ok(!(field in rows[0]!), field);
  assert.deepEqual(meta._redacted, ['identity']);
  assert.deepEqual((await getLog(blind, { request_id: target!.request_id }))._redacted, ['identity']);
  const seeing = await follow(w.live);
  assert.equal(seeing.rows[0]?.src_ip, '203.0.113.7');
  assert.ok(!('_redacted' in seeing.meta));
  await assert.rejects(follow(blind, { client_id: target!.request_id }), { type: 'forbidden' });
});

test('a cursor is good for its workspace, space and filters only', async () => {
  const [w, other] = await Promise.all([workspace(), workspace()]);
  await insert([row(w.tenant.id), row(w.tenant.id)]);
  const cursor = String((await follow(w.live, { limit: 1 })).meta.next_cursor);
  const refused = { type: 'validation_error', message: /start again without it/i };
  await assert.rejects(follow(other.live, { cursor }), refused);
  await assert.rejects(follow(w.test, { cursor }), refused);
  await assert.rejects(follow(w.live, { cursor, method: 'GET' }), refused);
  await assert.rejects(follow(w.live, { cursor: `${cursor.slice(0, -1)}${cursor.endsWith('A') ? 'B' : 'A'}` }), refused);
});

test('a row younger than the watermark is not served yet, nor by its id', async () => {
  const w = await workspace();
  const young = row(w.tenant.id, { ts: new Date() });
  await insert([row(w.tenant.id), young, row(w.tenant.id)]);
  assert.equal((await follow(w.live)).rows.length, 1, 'nothing behind an unsettled row is served');
  await assert.rejects(getLog({ ...w.live, now: new Date() }, { request_id: young.request_id }), { type: 'not_found' });
  const later = { ...w.live, now: new Date(Date.now() + 11_000) };
  assert.equal((await followLogs(later, FollowLogs.parse({}))).rows.length, 3);
});

for (const early of ['drew its transaction id first', 'drew its row number first'] as const)
  test(`a slow transaction that ${early} is waited for, not passed over`, async () => {
    const w = await workspace();
    const slow = await sql().connect();
    const fast = await sql().connect();
    try {
      await slow.query('begin');
      await fast.query('begin');
      // The other one gets the smaller transaction id, while the slow one has the smaller row number.
      if (early === 'drew its row number first') await fast.query('select pg_current_xact_id()');
      const late = row(w.tenant.id, { path: '/late' });
      await insert([late], slow);
      await insert([row(w.tenant.id, { path: '/fast' })], fast);
      await fast.query('commit');
      assert.deepEqual((await follow(w.live)).rows, [], 'the fast row has the higher number and must wait');
      await slow.query('commit');
      assert.deepEqual(
        (await follow(w.live)).rows.map((r) => r.path),
        ['/late', '/fast'],
      );
    } finally {
      slow.release(true);
      fast.release(true);
    }
  });

test('each space sees its own rows, and rows older than the partition count as Live', async () => {
  const w = await workspace();
  await insert([row(w.tenant.id, { sandbox: true }), row(w.tenant.id, { sandbox: null }), row(w.tenant.id)]);
  assert.deepEqual(
    (await follow(w.live)).rows.map((r) => r.sandbox),
    [null, false],
  );
  assert.deepEqual(
    (await follow(w.test)).rows.map((r) => r.sandbox),
    [true],
  );
});

test('a cursor whose row was removed resumes at what is left and says that something may be missing', async () => {
  const w = await workspace();
  await insert([row(w.tenant.id), row(w.tenant.id), row(w.tenant.id)]);
  const cursor = String((await follow(w.live, { limit: 1 })).meta.next_cursor);
  assert.ok(!('gap' in (await follow(w.live, { cursor })).meta));
  await sql().query('delete from request_logs where id in (select id from request_logs where tenant_id = $1 order by id limit 2)', [
    w.tenant.id,
  ]);
  const { rows, meta } = await follow(w.live, { cursor });
  assert.deepEqual([rows.length, meta.gap], [1, true]);
});
