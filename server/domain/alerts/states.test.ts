import assert from 'node:assert/strict';
import test from 'node:test';
import { startDeliveries } from '#server/domain/deliveries/service.ts';
import { raise } from '#server/domain/events/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { SIGNALS, signalChannel } from './signals.ts';
import { alertOf, at, incidentsOf, look } from './watching.fixture.ts';

await ownDatabase();

const DAY = 86_400_000;
const MINUTE = 60_000;
const inDays = (days: number) => new Date(Date.now() + days * DAY);
const after = (minutes: number) => new Date(Date.now() + minutes * MINUTE);
const open = async (id: string) =>
  (await incidentsOf(id)).filter(({ state }) => state === 'open').map(({ subject, value }) => [subject, value] as const);
// biome-ignore lint/suspicious/noExplicitAny: inputs of every shape
const sampleOf = async (file: string, id: string, ctx: Ctx): Promise<any> =>
  (await import(`#server/domain/${file}/samples.fixture.ts`)).samples[id](ctx);

test('secrets that end within so many days are told of one by one, until they get a later end', async () => {
  const w = await workspace();
  const { id } = await alertOf(w.live, { type: 'secret_expiring', condition: { days: 7 } });
  const soon = await made(w.live, 'secrets.create', {
    name: fresh('SOON').replaceAll('-', '_'),
    value: 'v',
    expires_at: inDays(3).toISOString(),
  });
  await made(w.live, 'secrets.create', { name: fresh('LATER').replaceAll('-', '_'), value: 'v', expires_at: inDays(20).toISOString() });
  await look(new Date());
  assert.deepEqual(await open(id), [[soon.name, 2]]);
  await db().secrets.update({ where: { id: soon.id }, data: { expires_at: inDays(60) } });
  await look(after(1));
  assert.equal((await open(id)).length, 1, 'one clean look is not enough');
  await look(after(2));
  assert.deepEqual(await open(id), []);
});

test('certificates that end soon and have no successor are told of', async () => {
  const w = await workspace();
  const { id } = await alertOf(w.live, { type: 'certificate_expiring', condition: { days: 10 } });
  const leaf = await made(w.live, 'pki.issue', await sampleOf('pki', 'pki.issue', w.live));
  assert.ok(leaf);
  await look(new Date());
  assert.deepEqual(await open(id), [], 'a leaf that was never to live longer is no news');
  await sql().query(
    `update pki_certificates set created_at = now() - interval '300 days', not_after = now() + interval '5 days 1 hour' where tenant_id = $1`,
    [w.tenant.id],
  );
  await look(new Date());
  const [found, ...more] = await open(id);
  assert.deepEqual([found?.[1], more], [5, []]);
});

test('a webhook that fails is told of while it does', async () => {
  const w = await workspace();
  const { id } = await alertOf(w.live, { type: 'webhook_failing' });
  const webhook = await made(w.live, 'webhooks.create', {
    name: 'orders',
    url: 'https://127.0.0.1:65001/hooks',
    event_types: ['audit.event'],
  });
  await look(new Date());
  assert.deepEqual(await open(id), []);
  await db().webhooks.update({ where: { id: webhook.id }, data: { failing_since: new Date(), consecutive_failures: 4 } });
  await look(new Date());
  assert.deepEqual(await open(id), [['orders', 4]]);
  await db().webhooks.update({ where: { id: webhook.id }, data: { enabled: false, disabled_reason: 'manual' } });
  await look(after(1));
  await look(after(2));
  assert.deepEqual(await open(id), [], 'what somebody turned off fails no more');
});

/** Lets the delivery engine hand events to alerts. */
async function delivered(ids: readonly string[], n: number): Promise<void> {
  const engine = startDeliveries({ [SIGNALS]: signalChannel() }, { pauseMs: 50 });
  await until(async () => (await db().alert_signals.count({ where: { alert_id: { in: [...ids] } } })) >= n, `${n} signals`);
  await engine.stop();
  assert.equal(await db().alert_signals.count({ where: { alert_id: { in: [...ids] } } }), n);
}

test('runs that fail are counted by workflow, each event once, and none of another space', async () => {
  const w = await workspace();
  const { id } = await alertOf(w.live, { type: 'workflow_failed', condition: { threshold: 2, window_minutes: 10 } });
  const [sync, other] = [newId(), newId()];
  const fail = (ctx: Ctx, workflow_id: string) =>
    inTransaction(ctx, (tx) =>
      raise(tx, ctx, [
        {
          type: 'workflow.execution.failed',
          source_id: newId(),
          data: { workflow_id, workflow_name: workflow_id === sync ? 'sync' : 'other' },
        },
      ]),
    );
  await fail(w.live, sync);
  await fail(w.live, other);
  await fail(w.test, sync);
  await delivered([id], 2);
  await look(new Date());
  assert.deepEqual(await open(id), []);
  await fail(w.live, sync);
  await delivered([id], 3);
  const [signal] = await db().alert_signals.findMany({ where: { alert_id: id } });
  await signalChannel().deliver(
    {
      ...{ delivery_id: newId(), destination_id: id, tenant_id: w.tenant.id, sandbox: false, number: 2, trigger: 'event' },
      event: { id: signal!.event_id, type: signal!.type, occurred_at: signal!.occurred_at, data: { workflow_id: sync } },
    },
    new AbortController().signal,
  );
  await look(new Date());
  assert.deepEqual(await open(id), [['sync', 2]], 'an event that comes twice counts once');
});

test('an agent that went offline is told of after so many minutes, and no more once it is back or revoked', async () => {
  const w = await workspace();
  const { id } = await alertOf(w.live, { type: 'agent_offline', condition: { minutes: 10 } });
  const agent = { id: newId(), name: 'edge-1', agent_id: `svc_agent_${fresh('edge')}`, mode: 'control' };
  await db().agents.create({ data: { ...agent, tenant_id: w.tenant.id, sandbox: false } });
  const say = (type: 'agent.online' | 'agent.offline', now: Date) =>
    inTransaction(w.live, (tx) => raise(tx, { ...w.live, now }, [{ type, source_id: agent.id, data: agent }]));
  await say('agent.offline', new Date());
  await delivered([id], 1);
  await look(after(9));
  assert.deepEqual(await open(id), []);
  await look(after(11));
  assert.deepEqual(await open(id), [['edge-1', 11]]);
  await say('agent.online', after(12));
  await delivered([id], 2);
  await look(after(13));
  await look(after(14));
  assert.deepEqual(await open(id), []);
  await say('agent.offline', after(20));
  await delivered([id], 3);
  await look(after(31));
  assert.deepEqual(await open(id), [['edge-1', 11]]);
  await db().agents.update({ where: { id: agent.id }, data: { status: 'revoked', revoked_at: new Date() } });
  await look(after(32));
  await look(after(33));
  assert.deepEqual(await open(id), []);
});

test('budgets of the AI gateway are held against what was spent of them', async () => {
  const w = await workspace();
  const { id } = await alertOf(w.live, { type: 'ai_budget', condition: { percent: 80 } });
  const gateway = await made(w.live, 'ai_gateways.create', await sampleOf('ai-gateways', 'ai_gateways.create', w.live));
  await db().ai_gateways.update({
    where: { id: gateway.id },
    data: { budget_daily_usd: 10, budget_monthly_usd: 100, budget_boost: undefined },
  });
  const now = new Date();
  const period_start = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()));
  const counter = { tenant_id: w.tenant.id, sandbox: false, subject_type: 'gateway', subject_id: gateway.id, period: 'day', period_start };
  await db().ai_spend_counters.create({ data: { ...counter, spent_nano: 7_900_000_000n } });
  await look(now);
  assert.deepEqual(await open(id), []);
  await db().ai_spend_counters.updateMany({ where: counter, data: { spent_nano: 8_500_000_000n } });
  await look(now);
  assert.deepEqual(await open(id), [[`${gateway.name} (today)`, 85]]);
});

test("the month's calls are held against the plan, or what an operator allows", async () => {
  const w = await workspace({ plan: 'free' });
  const { id } = await alertOf(w.live, { type: 'usage_threshold', condition: { percent: 90 } });
  const now = new Date();
  const at = { tenant_id: w.tenant.id, kind: 'api_calls', year: now.getUTCFullYear(), month: now.getUTCMonth() + 1 };
  await db().usage_counters.create({ data: { ...at, n: 8_999n } });
  await look(now);
  assert.deepEqual(await open(id), []);
  await db().usage_counters.updateMany({ where: at, data: { n: 9_100n } });
  await look(now);
  assert.deepEqual(await open(id), [["The month's calls", 91]]);
});

const entry = (ctx: Ctx, action: string, resource_type: string, now: Date) =>
  mutate({ ...ctx, now }, async () => audited(undefined, { action, resource_type, resource_id: newId() }));

test('many reveals, and entries of the audit log that match, are told of', async () => {
  const w = await workspace();
  const spike = await alertOf(w.live, { type: 'reveal_spike', condition: { threshold: 3, window_minutes: 5 } });
  const match = await alertOf(w.live, { type: 'audit_match', condition: { action_prefix: 'del', resource_type: 'secret' } });
  await entry(w.live, 'plaintext.reveal', 'secret', at(0, 30));
  await entry(w.live, 'plaintext.reveal', 'secret', at(1));
  await entry(w.test, 'plaintext.reveal', 'secret', at(1));
  await entry(w.live, 'delete', 'route', at(1));
  await entry(w.live, 'update', 'secret', at(1));
  await look(at(1, 30));
  assert.deepEqual([await open(spike.id), await open(match.id)], [[], []]);
  await entry(w.live, 'plaintext.reveal', 'vault_token', at(4, 59));
  await entry(w.live, 'delete', 'secret', at(4));
  await look(at(5));
  assert.deepEqual([await open(spike.id), await open(match.id)], [[[null, 3]], [[null, 1]]]);
});
