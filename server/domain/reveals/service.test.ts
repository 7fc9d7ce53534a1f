import assert from 'node:assert/strict';
import test from 'node:test';
import { perform } from '#server/api/perform.ts';
import { addMembership } from '#server/domain/people/service.ts';
import { forgetRules } from '#server/domain/policies/service.ts';
import * as secrets from '#server/domain/secrets/operations.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { type AnyOperation, operation } from '#server/kernel/operation.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { verified } from '#server/testing/step-up.ts';
import { until } from '#server/testing/until.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { exportReveals } from './log.ts';
import { notifyManyReveals } from './notices.ts';
import { pruneLedger } from './pruning.ts';

await ownDatabase();

/** An Owner with a secret, who counts what is decrypted. */
async function arranged() {
  const w = await workspace();
  const owner = w.member('owner');
  const { id } = await made(owner, 'secrets.create', { name: 'STRIPE', value: 'sk-of-nobody' });
  let shown = 0;
  const row: AnyOperation = operation({
    ...secrets.reveal,
    run: async (ctx, input, families) => {
      shown++;
      return secrets.reveal.run(ctx, input, families);
    },
  });
  const reveal = () => perform(row, { ...owner, request_id: newId() }, { id });
  return { w, owner, id, reveal, shown: () => shown };
}

/** Reveals of the person in the past, in seconds before now. */
const ledger = (owner: Ctx, ages: readonly number[], tenant_id = owner.tenant_id) =>
  sql().query(
    `insert into reveal_ledger (user_id, tenant_id, at, route, request_id)
     select $1, $2, clock_timestamp() - age * interval '1 second', '/', 'r' from unnest($3::float8[]) as age`,
    [owner.actor.id, tenant_id, ages],
  );

const refusal = async (work: Promise<unknown>): Promise<Refusal> => {
  const [result] = await Promise.allSettled([work]);
  assert.equal(result.status, 'rejected');
  return (result as PromiseRejectedResult).reason as Refusal;
};
const usable = (owner: Ctx) => db().step_up_verifications.count({ where: { user_id: owner.actor.id as string, consumed_at: null } });

test('the 61st reveal of a window is told exactly how long to wait, over all workspaces, and spends no verification', async () => {
  const { owner, reveal, shown } = await arranged();
  await verified(owner, 'plaintext.reveal');
  const elsewhere = (await workspace()).tenant.id;
  await ledger(owner, [150.5], elsewhere);
  await ledger(
    owner,
    Array.from({ length: 59 }, (_, i) => 90 + i),
  );
  /** Until the oldest leaves the window of 300 s, in whole seconds. */
  const wait = async () => {
    const oldest = 'select extract(epoch from min(at) - clock_timestamp())::float8 + 300 as s from reveal_ledger where user_id = $1';
    return Math.ceil((await sql().query<{ s: number }>(oldest, [owner.actor.id])).rows[0]?.s ?? 0);
  };
  const most = await wait();
  const refused = await refusal(reveal());
  assert.deepEqual([refused.type, refused.status], ['reveal_budget_exceeded', 429]);
  const told = refused.retryAfter ?? 0;
  assert.ok(most <= 150 && told <= most && told >= (await wait()), `${told} of ${most}`);
  assert.deepEqual([shown(), await usable(owner)], [0, 1]);
  await sql().query(`update reveal_ledger set at = at - interval '149.6 seconds' where user_id = $1 and tenant_id = $2`, [
    owner.actor.id,
    elsewhere,
  ]);
  await reveal();
  assert.deepEqual([shown(), await usable(owner)], [1, 0]);
});

test('of a burst of 100 reveals exactly 60 are shown, and the others keep their verifications', async () => {
  const { owner, reveal, shown } = await arranged();
  for (let i = 0; i < 100; i++) await verified(owner, 'plaintext.reveal');
  // On a busy machine some wait too long for a connection: those that spent nothing ask again, as a client would; what spent its unit may still fail to be read.
  const spentNothing = ['reveal_budget_unavailable', 'reveal_audit_unavailable'];
  const patiently = (): Promise<unknown> =>
    reveal().catch((error: Refusal) => (spentNothing.includes(error.type) ? patiently() : Promise.reject(error)));
  const results = await Promise.allSettled(Array.from({ length: 100 }, patiently));
  const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as Refusal] : []));
  assert.equal(refused.filter(({ type }) => type === 'reveal_budget_exceeded').length, 40);
  for (const { type, status } of refused) assert.ok(type === 'reveal_budget_exceeded' || status === 503, type);
  assert.deepEqual([shown(), await usable(owner)], [60, 40]);
});

test('without the ledger nothing is revealed', async () => {
  const { owner, reveal, shown } = await arranged();
  await verified(owner, 'plaintext.reveal');
  await sql().query('alter table reveal_ledger rename to gone');
  try {
    const refused = await refusal(reveal());
    assert.deepEqual([refused.type, refused.status, refused.retryAfter], ['reveal_budget_unavailable', 503, 5]);
  } finally {
    await sql().query('alter table gone rename to reveal_ledger');
  }
  assert.deepEqual([shown(), await usable(owner)], [0, 1]);
});

test('a person whose other reveal does not end waits two seconds at most', async () => {
  const { owner, reveal, shown } = await arranged();
  await verified(owner, 'plaintext.reveal');
  const holder = await sql().connect();
  await holder.query('begin');
  await holder.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`reveal:${owner.actor.id}`]);
  try {
    assert.equal((await refusal(reveal())).type, 'reveal_budget_unavailable');
  } finally {
    await holder.query('rollback');
    holder.release();
  }
  assert.deepEqual([shown(), await usable(owner)], [0, 1]);
});

test('reveals of a person queue up for their budget before they hold anything else', async () => {
  const { owner, reveal } = await arranged();
  await verified(owner, 'plaintext.reveal');
  const holder = await sql().connect();
  const [state, lock] = [{ over: false }, `reveal:${owner.actor.id}`];
  await holder.query('begin');
  await holder.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [lock]);
  const { rows } = await holder.query<{ pid: number }>('select pg_backend_pid() as pid');
  const reveals = (async () => {
    while (!state.over) await reveal().catch(() => {}); // one waits for two seconds
  })();
  try {
    const waiting = `select l.pid, (select count(*)::int from pg_locks o where o.pid = l.pid and o.granted and (o.locktype = 'advisory' or o.mode = 'RowExclusiveLock')) as held
      from pg_locks l where l.locktype = 'advisory' and not l.granted and $1 = any(pg_blocking_pids(l.pid))`;
    const found: number[] = [];
    await until(async () => {
      const [row] = (await sql().query<{ held: number }>(waiting, [rows[0]?.pid])).rows;
      if (row) found.push(row.held);
      return row !== undefined;
    }, 'a reveal waits');
    assert.deepEqual(found, [0], 'row locks and the chain come after the budget');
  } finally {
    state.over = true;
    await holder.query('rollback');
    holder.release();
    await reveals;
  }
});

test('when verifications or policies cannot be read the check fails closed', async () => {
  const { owner, reveal, shown } = await arranged();
  await verified(owner, 'plaintext.reveal');
  await sql().query('alter table step_up_verifications rename to gone');
  const withoutVerifications = await refusal(reveal());
  await sql().query('alter table gone rename to step_up_verifications');
  assert.deepEqual([withoutVerifications.type, withoutVerifications.status], ['reveal_check_failed', 500]);
  forgetRules(owner.tenant_id);
  await sql().query('alter table tenant_policies rename to gone');
  const withoutPolicies = await refusal(reveal());
  await sql().query('alter table gone rename to tenant_policies');
  assert.equal(withoutPolicies.type, 'reveal_check_failed');
  assert.deepEqual([shown(), await usable(owner)], [0, 1]);
});

test('what is shown is the version that was audited, even if a new value is set in between', async () => {
  const { owner, id } = await arranged();
  await verified(owner, 'plaintext.reveal');
  const slow: AnyOperation = operation({
    ...secrets.reveal,
    run: async (ctx, input, families) => {
      await made(owner, 'secrets.put_value', { id, value: 'newer' });
      return secrets.reveal.run(ctx, input, families);
    },
  });
  const { output } = await perform(slow, owner, { id });
  assert.deepEqual([output.value, output.value_version], ['sk-of-nobody', 1]);
});

test('the ledger forgets after a day, and never what a window counts', async () => {
  const { owner } = await arranged();
  await ledger(owner, [10, 299, 86_000, 86_500, 90_000, 200_000]);
  assert.equal(await pruneLedger(db(), 2), 3);
  assert.equal(await db().reveal_ledger.count({ where: { user_id: owner.actor.id as string } }), 3);
});

test('the reveal log shows both spaces, newest first, and narrows by person and resource; the export is the same', async () => {
  const { w, owner, id, reveal } = await arranged();
  await verified(owner, 'plaintext.reveal');
  owner.reveal_reason = 'ticket%20812';
  await reveal();
  const inTest = { ...owner, sandbox: true };
  const other = await made(inTest, 'secrets.create', { name: 'OTHER', value: 'v' });
  await verified(inTest, 'plaintext.reveal');
  await perform(secrets.reveal, { ...inTest, now: new Date(Date.now() + 5), request_id: newId() }, { id: other.id });
  const log = async (query: Record<string, unknown>) =>
    ((await made(w.member('admin'), 'reveals.list', query)) as { name: string; sandbox: boolean; method: string; reason: string }[]).map(
      ({ name, sandbox, method, reason }) => [name, sandbox, method, reason],
    );
  const [newer, older] = [
    ['OTHER', true, 'totp', 'ticket 812'],
    ['STRIPE', false, 'totp', 'ticket 812'],
  ];
  assert.deepEqual(await log({}), [newer, older]);
  assert.deepEqual(await log({ per_page: 1, page: 2 }), [older]);
  assert.deepEqual(await log({ resource_id: id }), [older]);
  assert.deepEqual(await log({ q: 'othe' }), [newer]);
  assert.deepEqual(await log({ actor_id: newId() }), []);
  assert.deepEqual((await made(w.member('admin'), 'reveals.people')).people, [{ id: owner.actor.id, label: owner.actor.label, count: 2 }]);
  const { body } = await exportReveals(w.member('admin'), {});
  const text = await new Response(body).text();
  const lines = text.trim().split('\r\n');
  assert.equal(lines.length, 3);
  assert.match(lines[1] ?? '', /,test,.*,OTHER,.*,totp,ticket 812,granted,127\.0\.0\.1,/);
  assert.ok(!text.includes('sk-of-nobody'));
  const [viewer] = await made(w.member('viewer'), 'reveals.list');
  assert.deepEqual([viewer.reason, viewer.name, viewer.details_redacted], [null, null, true]);
});

test('Owners are mailed once an hour about a person who reveals more than 30 values in one', async () => {
  const { w, owner } = await arranged();
  await verified(owner, 'plaintext.reveal');
  await member(w, owner);
  await db().reveal_ledger.deleteMany(); // of the other tests' people
  const mails = async () => (await db().mails.findMany({ where: { kind: 'many_reveals' } })).map(({ subject }) => subject);
  await ledger(owner, Array<number>(30).fill(600));
  assert.equal(await notifyManyReveals(db(), new Date()), 0);
  await ledger(owner, [5]);
  assert.equal(await notifyManyReveals(db(), new Date()), 1);
  await ledger(owner, [4]);
  assert.equal(await notifyManyReveals(db(), new Date()), 0, 'once an hour');
  assert.deepEqual(await mails(), [`M revealed 31 values in ${w.tenant.name} within an hour`]);
});

const member = (w: Workspace, { actor }: Ctx) =>
  db().$transaction((tx) =>
    addMembership(tx, { tenant_id: w.tenant.id, user_id: actor.id as string, role: 'owner', source: 'test', now: new Date() }),
  );
