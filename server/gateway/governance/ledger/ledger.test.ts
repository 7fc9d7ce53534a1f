import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import test from 'node:test';
import { sweepReservations } from '#server/domain/ai-spend/jobs/sweep.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { watchEvents } from '#server/testing/events.ts';
import { onFileEnd } from '#server/testing/file-end.ts';
import { folderOf } from '#server/testing/processes.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { drainCalls, flushCalls, journalCalls, recordCall } from '../log/writer.ts';
import { CENT, finished, input, type Payers, payers, subjectsOf, USD } from './calls.fixture.ts';
import { type Reserved, reserve } from './ledger.ts';
import type { Refused } from './verdict.ts';

await testDatabase();

type Counter = { subject_type: string; period: string; spent: bigint; reserved: bigint; tokens: bigint; held_tokens: bigint };
const counters = async ({ tenantId }: Payers): Promise<Counter[]> => {
  const { rows } = await sql().query(
    `select subject_type, period, spent_nano, reserved_nano, tokens, reserved_tokens from ai_spend_counters
      where tenant_id = $1 order by subject_type, period, period_start`,
    [tenantId],
  );
  return rows.map((row) => ({
    subject_type: row.subject_type,
    period: row.period,
    spent: BigInt(row.spent_nano),
    reserved: BigInt(row.reserved_nano),
    tokens: BigInt(row.tokens),
    held_tokens: BigInt(row.reserved_tokens),
  }));
};
const counter = async (who: Payers, type: string, period = 'day') =>
  (await counters(who)).find((c) => c.subject_type === type && c.period === period);
const spentByCalls = async ({ tenantId }: Payers) => {
  const { rows } = await sql().query<{ calls: string; nano: string; logs: string }>(
    `select count(*) as calls, coalesce(sum(cost_nano), 0) as nano,
      (select count(*) from ai_request_logs where tenant_id = $1) as logs from ai_usage_events where tenant_id = $1`,
    [tenantId],
  );
  return { calls: Number(rows[0]?.calls), nano: BigInt(rows[0]?.nano ?? 0), logs: Number(rows[0]?.logs) };
};

const admitted = (outcome: Reserved | Refused): Reserved => {
  assert.ok(outcome.ok, outcome.ok ? '' : outcome.code);
  return outcome;
};
const refused = (outcome: Reserved | Refused): Refused => {
  assert.ok(!outcome.ok);
  return outcome;
};

test('a call reserves its estimate with everyone who is limited, and settles what it cost with everyone who pays', async () => {
  const who = payers((await workspace()).tenant.id);
  const asked = input(who, subjectsOf(who, { agent: { dailyNano: USD } }));
  const reserved = admitted(await reserve(asked));
  assert.equal((await counter(who, 'agent'))?.reserved, 5n * CENT);
  assert.equal(await counter(who, 'token'), undefined, 'without a cap nothing is reserved');
  void recordCall(finished(asked, reserved));
  void recordCall(finished(asked, reserved));
  await flushCalls();
  const all = await counters(who);
  assert.deepEqual(
    all.map(({ subject_type, period, spent, reserved: left, tokens }) => [subject_type, period, spent, left, tokens]),
    ['agent', 'gateway', 'token'].flatMap((type) => ['day', 'month'].map((period) => [type, period, CENT / 2n, 0n, 1_300n])),
  );
  assert.deepEqual(await spentByCalls(who), { calls: 1, nano: CENT / 2n, logs: 1 });
});

test('calls that arrive together share a statement', async (t) => {
  const who = payers((await workspace()).tenant.id);
  const subjects = subjectsOf(who, { token: { dailyTokens: 10_000_000 }, agent: { dailyNano: USD }, gateway: { monthlyNano: USD } });
  const { ownSql } = await import('#server/platform/sql.ts');
  const query = t.mock.method(ownSql(), 'query');
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => reserve(input(who, subjects, { estimateNano: CENT }))));
  assert.equal(outcomes.filter(({ ok }) => ok).length, 20);
  assert.equal(query.mock.callCount(), 1);
});

for (const [calls, each] of [
  [50, 5n * CENT],
  [100, 7n * CENT],
] as const)
  test(`${calls} calls at once in two processes never pass a budget by more than one reservation`, async () => {
    const who = payers((await workspace()).tenant.id);
    const other = await processOf('race', who, calls / 2, USD);
    const lines = other.lines[Symbol.asyncIterator]();
    assert.equal((await lines.next()).value, 'ready');
    other.child.stdin?.write('go\n');
    const subjects = subjectsOf(who, { agent: { dailyNano: USD } });
    const mine = await Promise.all(Array.from({ length: calls / 2 }, () => reserve(input(who, subjects, { estimateNano: each }))));
    const theirs = JSON.parse(String((await lines.next()).value)) as { admitted: number };
    const here = mine.filter(({ ok }) => ok).length;
    const state = await counter(who, 'agent');
    assert.equal(state?.reserved, BigInt(here) * each + BigInt(theirs.admitted) * 5n * CENT);
    assert.ok(state.reserved >= USD, 'the budget was used');
    assert.ok(state.reserved < USD + each, `${state.reserved} of ${USD}`);
    const refusal = refused(await reserve(input(who, subjects)));
    assert.deepEqual(
      [refusal.code, refusal.extra.scope, refusal.extra.period, refusal.action],
      ['budget_exceeded', 'agent', 'daily', 'block'],
    );
  });

test('the sum of calls is what was spent, wherever the process is killed', async () => {
  const ends = await Promise.all(
    ['reserved 3', 'recorded 3', 'writing 3', 'written 3', 'writing 7', 'reserved 11'].map(async (moment) => {
      const who = payers((await workspace()).tenant.id);
      const { child, lines } = await processOf('calls', who, 0, 100n * USD);
      for await (const line of lines)
        if (line === moment) {
          child.kill('SIGKILL');
          break;
        }
      return { who, moment };
    }),
  );
  // What a killed process had sent is still carried out: its sessions end only after that.
  const sessions = async () =>
    (await sql().query('select from pg_stat_activity where datname = current_database() and application_name = $1', [KILLED])).rowCount;
  await until(async () => (await sessions()) === 0);
  await sweepReservations(new Date(Date.now() + 21 * 60_000));
  for (const { who, moment } of ends) {
    const { calls, nano, logs } = await spentByCalls(who);
    assert.ok(calls >= 3, moment);
    assert.equal(logs, calls, moment);
    for (const { subject_type, spent, reserved, held_tokens } of await counters(who)) {
      assert.equal(spent, nano, `${moment} ${subject_type}`);
      assert.deepEqual([reserved, held_tokens], [0n, 0n], `${moment} ${subject_type}`);
    }
    assert.equal((await sql().query('select from ai_reservations where tenant_id = $1', [who.tenantId])).rowCount, 0);
  }
});

test('a call that was recorded is spent once, wherever the process is killed, by what its journal left to the next one', async () => {
  const { directory, remove } = folderOf('ai-calls');
  onFileEnd(remove);
  const ends = await Promise.all(
    ['reserved 3', 'recorded 3', 'writing 3', 'written 3', 'recorded 7'].map(async (moment) => {
      const who = payers((await workspace()).tenant.id);
      const journal = path.join(directory, moment);
      const { child, lines } = await processOf('calls', who, 0, 100n * USD, journal);
      for await (const line of lines)
        if (line === moment) {
          child.kill('SIGKILL');
          break;
        }
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      return { who, moment, journal };
    }),
  );
  const sessions = async () =>
    (await sql().query('select from pg_stat_activity where datname = current_database() and application_name = $1', [KILLED])).rowCount;
  await until(async () => (await sessions()) === 0);
  for (const { who, moment, journal } of ends) {
    const end = journalCalls(journal);
    await drainCalls();
    await drainCalls();
    end();
    assert.deepEqual(readdirSync(journal), [], moment);
    const { calls, nano, logs } = await spentByCalls(who);
    const last = Number(moment.split(' ')[1]);
    // The process goes on until the signal arrives.
    assert.ok(calls >= (moment.startsWith('reserved') ? last : last + 1), `${moment}: ${calls}`);
    assert.equal(logs, calls, moment);
    for (const { subject_type, spent } of await counters(who)) assert.equal(spent, nano, `${moment} ${subject_type}`);
  }
});

test('the sweeper leaves calls under way alone, and a call that ends after it is settled once', async () => {
  const who = payers((await workspace()).tenant.id);
  const asked = input(who, subjectsOf(who, { agent: { dailyNano: USD } }));
  const reserved = admitted(await reserve(asked));
  await sweepReservations(new Date(asked.now + 19 * 60_000));
  assert.equal((await counter(who, 'agent'))?.reserved, 5n * CENT);
  await sweepReservations(new Date(asked.now + 21 * 60_000));
  assert.equal((await counter(who, 'agent'))?.reserved, 0n);
  void recordCall(finished(asked, reserved));
  await flushCalls();
  const state = await counter(who, 'agent');
  assert.deepEqual([state?.spent, state?.reserved], [CENT / 2n, 0n]);
});

test('days and months begin at midnight UTC, and a call belongs to the period in which it began', async () => {
  const who = payers((await workspace()).tenant.id);
  const subjects = subjectsOf(who, { agent: { dailyNano: CENT, monthlyNano: USD } });
  const lastMoment = Date.parse('2027-01-31T23:59:59.900Z');
  const first = input(who, subjects, { now: lastMoment, estimateNano: CENT });
  const reserved = admitted(await reserve(first));
  const refusal = refused(await reserve(input(who, subjects, { now: lastMoment })));
  assert.deepEqual([refusal.retryAfter, refusal.extra.period], [1, 'daily']);
  const next = input(who, subjects, { now: lastMoment + 100, estimateNano: CENT });
  admitted(await reserve(next));
  void recordCall(finished(first, reserved));
  await flushCalls();
  const { rows } = await sql().query<{ period: string; start: Date; spent: string }>(
    "select period, period_start as start, spent_nano as spent from ai_spend_counters where tenant_id = $1 and subject_type = 'agent' order by 2, 1",
    [who.tenantId],
  );
  assert.deepEqual(
    rows.map(({ period, start, spent }) => [period, start.toISOString().slice(0, 10), Number(spent)]),
    [
      ['month', '2027-01-01', 5_000_000],
      ['day', '2027-01-31', 5_000_000],
      ['day', '2027-02-01', 0],
      ['month', '2027-02-01', 0],
    ],
  );
});

test('Retry-After counts to the end of the period that ends last', async () => {
  const who = payers((await workspace()).tenant.id);
  const now = Date.parse('2026-11-20T17:34:00.250Z');
  const ask = (caps: object) => reserve(input(who, subjectsOf(who, { agent: caps }), { now }));
  assert.equal(refused(await ask({ dailyNano: 0n })).retryAfter, 23_160);
  assert.equal(refused(await ask({ monthlyNano: 0n })).retryAfter, 887_160);
  assert.equal(refused(await ask({ dailyNano: 0n, monthlyNano: 0n })).retryAfter, 887_160);
});

test('token caps have a code of their own, and a budget that warns lets calls pass and says so', async () => {
  const who = payers((await workspace()).tenant.id);
  const caps = refused(await reserve(input(who, subjectsOf(who, { token: { dailyTokens: 0 } }))));
  assert.deepEqual([caps.code, caps.extra.scope], ['token_cap_exceeded', 'token']);
  const dollars = refused(await reserve(input(who, subjectsOf(who, { token: { monthlyNano: 0n } }))));
  assert.deepEqual([dollars.code, dollars.extra.period], ['token_cap_exceeded', 'monthly']);
  const warned = admitted(await reserve(input(who, subjectsOf(who, { agent: { dailyNano: 0n, action: 'warn' } }))));
  assert.deepEqual(
    warned.warnings.map(({ scope, period, metric }) => [scope, period, metric]),
    [['agent', 'day', 'usd']],
  );
  const fallback = refused(await reserve(input(who, subjectsOf(who, { agent: { dailyNano: 0n, action: 'fallback' } }))));
  assert.equal(fallback.action, 'fallback');
  const gatewayToo = { agent: { dailyNano: 0n, action: 'fallback' as const }, gateway: { dailyNano: 0n } };
  assert.equal(refused(await reserve(input(who, subjectsOf(who, gatewayToo)))).action, 'block');
});

test('a spent budget says how far it is spent', async () => {
  const who = payers((await workspace()).tenant.id);
  const subjects = subjectsOf(who, { agent: { dailyNano: 50n * USD } });
  const asked = input(who, subjects);
  const reserved = admitted(await reserve(asked));
  void recordCall(
    finished(asked, reserved, {
      charges: [{ ...(finished(asked, reserved).charges[0] as never as object), nano: 50_003_100_000n } as never],
    }),
  );
  await flushCalls();
  const refusal = refused(await reserve(input(who, subjects)));
  assert.equal(refusal.extra.utilization_pct, 100.006);
  assert.equal(refusal.description, 'Daily budget of this agent is used up (50.0031 of 50.00 USD).');
});

test('alerts are given once at 50, 80 and 100 % of a budget, and are events at once', async () => {
  const w = await workspace();
  const who = payers(w.tenant.id);
  const events = await watchEvents(w.live, 'ai.budget.threshold', 'ai.budget.exceeded');
  const subjects = subjectsOf(who, { agent: { dailyNano: CENT } });
  for (let n = 0; n < 3; n++) {
    const asked = input(who, subjects, { estimateNano: 0n });
    const outcome = await reserve(asked);
    if (outcome.ok) void recordCall(finished(asked, outcome));
    await flushCalls();
  }
  const { rows } = await sql().query<{ threshold: number; data: { spent_nano: string } }>(
    'select threshold, data from ai_alerts where tenant_id = $1 order by threshold',
    [who.tenantId],
  );
  assert.deepEqual(
    rows.map(({ threshold, data }) => [threshold, data.spent_nano]),
    [
      [50, '5000000'],
      [80, '10000000'],
      [100, '10000000'],
    ],
  );
  await until(async () => (await events()).length >= 4);
  assert.deepEqual((await events()).map(({ type, data }) => `${type} ${data.threshold_pct}`).sort(), [
    'ai.budget.exceeded 100',
    'ai.budget.threshold 100',
    'ai.budget.threshold 50',
    'ai.budget.threshold 80',
  ]);
});

test('without the database calls that are limited are refused, and others go on', async (t) => {
  const who = payers((await workspace()).tenant.id);
  const { ownSql } = await import('#server/platform/sql.ts');
  t.mock.method(ownSql(), 'query', () => Promise.reject(new Error('connection refused')));
  const refusal = refused(await reserve(input(who, subjectsOf(who, { agent: { dailyNano: USD } }))));
  assert.deepEqual([refusal.code, refusal.retryAfter], ['budget_unavailable', 5]);
  admitted(await reserve(input(who, subjectsOf(who, {}))));
});

/** The name by which the database knows the sessions of the other process. */
const KILLED = 'calls-of-another-process';

async function processOf(
  mode: string,
  who: Payers,
  calls: number,
  cap: bigint,
  journal?: string,
): Promise<{ child: ChildProcess; lines: AsyncIterable<string> }> {
  const child = spawn(
    process.execPath,
    [new URL('./calls.fixture.ts', import.meta.url).pathname, 'process', JSON.stringify({ mode, who, calls, cap: String(cap), journal })],
    { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, PGAPPNAME: KILLED } },
  );
  return { child, lines: createInterface({ input: child.stdout }) };
}
