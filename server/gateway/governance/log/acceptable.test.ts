import assert from 'node:assert/strict';
import test from 'node:test';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { CENT, finished, input, payers, subjectsOf, USD } from '../ledger/calls.fixture.ts';
import { reserve } from '../ledger/ledger.ts';
import type { FinishedCall } from './entry.ts';
import { flushCalls, recordCall } from './writer.ts';

await testDatabase();

/** Records a call like this beside a usual one. @returns rows, spend and what is still reserved of the agent */
async function recorded(change: (call: FinishedCall) => FinishedCall, before: (tenantId: string) => Promise<unknown> = async () => {}) {
  const who = payers((await workspace()).tenant.id);
  const subjects = subjectsOf(who, { agent: { dailyNano: 1_000n * USD } });
  const asked = input(who, subjects);
  const reserved = await reserve(asked);
  assert.ok(reserved.ok);
  await before(who.tenantId);
  void recordCall(change(finished(asked, reserved)));
  const beside = input(who, []);
  void recordCall(finished(beside, null));
  await flushCalls();
  const { rows } = await sql().query<{ logs: string; events: string; spent: string; reserved: string }>(
    `select (select count(*) from ai_request_logs where tenant_id = $1) as logs, (select sum(cost_nano) from ai_usage_events where tenant_id = $1) as events,
      spent_nano as spent, reserved_nano as reserved from ai_spend_counters
      where tenant_id = $1 and subject_id = $2 and period = 'day'`,
    [who.tenantId, who.agent],
  );
  return Object.fromEntries(Object.entries(rows[0] ?? {}).map(([name, value]) => [name, BigInt(value)]));
}

const usual = { logs: 2n, events: CENT, spent: CENT / 2n, reserved: 0n };

test('a call with a text that the database refuses has its row and its charge', async () => {
  for (const text of ['a\0b', 'a\ud800b'])
    assert.deepEqual(await recorded((call) => ({ ...call, facts: { ...call.facts, code: text, tags: { [text]: text } } })), usual);
});

test('a call with a number that the database refuses has its row and its charge', async () => {
  for (const number of [1e300, -1e20, Number.NaN, 0.5])
    assert.deepEqual(await recorded((call) => ({ ...call, facts: { ...call.facts, latency_ms: number, request_bytes: number } })), usual);
  for (const count of [1e300, 2 ** 60]) {
    const found = await recorded((call) => ({
      ...call,
      charges: call.charges.map((charge) => ({ ...charge, usage: { ...charge.usage, input_uncached: count } })),
    }));
    assert.deepEqual(found, usual);
  }
});

test('a charge larger than a counter holds is counted as the largest', async () => {
  const most = 1_000_000n * USD;
  const found = await recorded((call) => ({ ...call, charges: call.charges.map((charge) => ({ ...charge, nano: 10n ** 20n })) }));
  assert.deepEqual(found, { logs: 2n, events: most + CENT / 2n, spent: most, reserved: 0n });
});

test('a counter that is full takes no more, and the call still has its row and its cost', async () => {
  const full = 2n ** 63n - 1n;
  const found = await recorded(
    (call) => call,
    (tenantId) => sql().query('update ai_spend_counters set spent_nano = $2 where tenant_id = $1', [tenantId, String(full)]),
  );
  assert.deepEqual(found, { ...usual, spent: full });
});
