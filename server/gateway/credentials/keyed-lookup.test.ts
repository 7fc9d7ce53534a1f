import assert from 'node:assert/strict';
import test from 'node:test';
import { digest } from '#server/crypto/tokens.ts';
import { keyedLookup } from './keyed-lookup.ts';

type Row = { digest: Uint8Array; tenant_id: string; name: string };

/** A lookup over rows in memory that counts how often they are asked for, and can be held up. */
function lookup({ max = 100, max_loads = 8, stale_ms = 0 } = {}) {
  const rows = new Map<string, Row>();
  const state = { loads: 0, away: false, clock: 0, hold: undefined as Promise<void> | undefined };
  const found = keyedLookup<Row>({
    max,
    max_loads,
    stale_ms,
    ttl_ms: 2_000,
    negative_ttl_ms: 1_000,
    now: () => state.clock,
    async load(text) {
      state.loads++;
      const row = rows.get(text);
      await state.hold;
      if (state.away) throw new Error('the database is away');
      return row;
    },
  });
  const add = (text: string, tenant_id = 't1') => rows.set(text, { digest: digest(text), tenant_id, name: text });
  return { rows, state, add, ...found, size: () => found.size };
}

test('finds a row once and then from memory, until it is too old', async () => {
  const keys = lookup();
  keys.add('a');
  assert.equal(((await keys.find('a')) as Row).name, 'a');
  assert.equal((keys.find('a') as Row).name, 'a', 'from memory, without a turn of the event loop');
  keys.state.clock = 2_001;
  await keys.find('a');
  assert.equal(keys.state.loads, 2);
});

test('calls of one moment share one load', async () => {
  const keys = lookup();
  keys.add('a');
  const found = await Promise.all(Array.from({ length: 50 }, () => keys.find('a')));
  assert.equal(keys.state.loads, 1);
  assert.ok(found.every((row) => (row as Row).name === 'a'));
});

test('rejects a revoked credential on the next call after the announcement', async () => {
  const keys = lookup();
  keys.add('a');
  await keys.find('a');
  keys.rows.delete('a');
  keys.forget('t1');
  assert.equal(await keys.find('a'), null);
});

test('a load that was under way when a revocation was announced is neither kept nor joined', async () => {
  const keys = lookup();
  keys.add('a');
  const gate = Promise.withResolvers<void>();
  keys.state.hold = gate.promise;
  const before = keys.find('a');
  keys.rows.delete('a');
  keys.forget('t1');
  const after = keys.find('a');
  gate.resolve();
  assert.equal(((await before) as Row).name, 'a', 'this call began before the revocation');
  assert.equal(await after, null);
  assert.equal(await keys.find('a'), null);
});

test('an announcement drops the rows of its workspace only', async () => {
  const keys = lookup();
  keys.add('a', 't1');
  keys.add('b', 't2');
  await keys.find('a');
  await keys.find('b');
  keys.forget('t1');
  assert.ok(keys.find('a') instanceof Promise);
  assert.ok(!(keys.find('b') instanceof Promise));
});

test('a row whose digest is another text’s is nobody’s', async () => {
  const keys = lookup();
  keys.add('a');
  keys.rows.set('forged', keys.rows.get('a') as Row);
  assert.equal(await keys.find('forged'), null);
  assert.equal(((await keys.find('a')) as Row).name, 'a');
});

test('a flood of unknown texts evicts no row and asks the database for a few at a time', async () => {
  const keys = lookup({ max: 50, max_loads: 4 });
  for (let i = 0; i < 50; i++) keys.add(`k${i}`);
  for (let i = 0; i < 50; i++) await keys.find(`k${i}`);
  const gate = Promise.withResolvers<void>();
  keys.state.hold = gate.promise;
  const flood = Array.from({ length: 1_000 }, (_, i) => keys.find(`unknown${i}`));
  assert.equal(keys.state.loads, 54);
  for (let i = 0; i < 50; i++) assert.equal((keys.find(`k${i}`) as Row).name, `k${i}`, 'from memory');
  gate.resolve();
  const answers = await Promise.all(flood);
  assert.deepEqual([answers.filter((a) => a === null).length, answers.filter((a) => a === 'busy').length], [4, 996]);
  for (let i = 0; i < 100; i++) await keys.find('unknown0');
  assert.equal(keys.state.loads, 54, 'one that was unknown a moment ago is not asked for again');
});

test('a row that is only too old is looked up again in the middle of a flood', async () => {
  const keys = lookup({ max_loads: 2 });
  keys.add('a');
  await keys.find('a');
  keys.state.clock = 3_000;
  const gate = Promise.withResolvers<void>();
  keys.state.hold = gate.promise;
  const flood = ['x', 'y', 'z'].map((text) => keys.find(text));
  const mine = keys.find('a');
  gate.resolve();
  assert.equal(((await mine) as Row).name, 'a');
  assert.deepEqual(await Promise.all(flood), [null, null, 'busy']);
});

test('keeps no more rows than it may, and drops the one that was used least recently', async () => {
  const keys = lookup({ max: 3 });
  for (const text of ['a', 'b', 'c', 'd']) keys.add(text);
  for (const text of ['a', 'b', 'c', 'a', 'd']) await keys.find(text);
  assert.equal(keys.size(), 3);
  assert.ok(!(keys.find('a') instanceof Promise));
  assert.ok(keys.find('b') instanceof Promise);
});

test('decides nothing while the database is away but by rows that are still young, and nothing is remembered of the failure', async () => {
  const keys = lookup();
  keys.add('a');
  await keys.find('a');
  keys.state.away = true;
  assert.equal((keys.find('a') as Row).name, 'a');
  await assert.rejects(async () => keys.find('b'));
  keys.state.clock = 2_001;
  await assert.rejects(async () => keys.find('a'));
  keys.state.away = false;
  assert.equal(((await keys.find('a')) as Row).name, 'a');
});

test('a row may be trusted longer while the database is away, unless an announcement has dropped it', async () => {
  const keys = lookup({ stale_ms: 60_000 });
  keys.add('a');
  await keys.find('a');
  keys.state.away = true;
  keys.state.clock = 50_000;
  assert.equal(((await keys.find('a')) as Row).name, 'a');
  const { loads } = keys.state;
  assert.equal((keys.find('a') as Row).name, 'a');
  assert.equal(keys.state.loads, loads, 'a database that does not answer is not asked for every call');
  keys.state.clock = 60_001;
  await assert.rejects(async () => keys.find('a'));
  keys.state.clock = 0;
  keys.forget('t1');
  await assert.rejects(async () => keys.find('a'));
});

test('a credential that begins to exist is found on the call after its announcement', async () => {
  const keys = lookup();
  assert.equal(await keys.find('a'), null);
  keys.add('a');
  assert.equal(keys.find('a'), null);
  keys.forget('t1');
  assert.equal(((await keys.find('a')) as Row).name, 'a');
});
