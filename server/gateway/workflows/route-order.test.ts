import assert from 'node:assert/strict';
import test from 'node:test';
import { startDeliveries } from '#server/domain/deliveries/service.ts';
import { definitionOf, ended, runsOf, started, stored, working } from '#server/domain/workflows/engine/running.fixture.ts';
import { syncSubscription } from '#server/domain/workflows/schedules.ts';
import { channels } from '#server/jobs/channels.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { db } from '#server/platform/db.ts';
import { controlSocketPath } from '#server/platform/gateway-control.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { onFileEnd } from '#server/testing/file-end.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { makeRoute, makeSecret, served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { withKey } from './callers.fixture.ts';

await ownDatabase();
const running = await startGateway();
await running.controlSocket.listen(controlSocketPath());
working();
const deliveries = startDeliveries(channels, { pauseMs: 50 });
onFileEnd(() => deliveries.stop());

test('a node calls a route of the workspace, which injects its secret; the run never has it', async () => {
  const w = await workspace();
  const by = await withKey(w);
  const upstream = await startUpstream((_req, res) => void res.writeHead(200, { 'content-type': 'application/json' }).end('{"paid":true}'));
  await makeSecret(w, 'TOKEN', { production: 'sk-live-3f9a-plain' });
  const route = await makeRoute(w, 'orders', upstream.url, { inject_headers_json: { 'X-Token': '{{secret:TOKEN}}' } });
  await served(running, w);
  const definition = definitionOf(
    {
      pay: [
        'route_request',
        { route: 'orders', method: 'POST', path: '/v1/pay?x=1', query: { n: '{{trigger.data.n}}' }, body: { n: '{{trigger.data.n}}' } },
      ],
      done: ['transform', { template: '{{pay.body.paid}}' }],
    },
    ['trigger>pay', 'pay>done'],
  );
  const id = await started(by, await stored(by, definition), { n: 4 });
  const execution = await ended(id);
  assert.deepEqual([execution.status, execution.error_message], ['completed', null]);
  const [seen] = upstream.seen;
  assert.deepEqual(
    [seen?.url, seen?.body, seen?.headers['x-token'], seen?.headers['idempotency-key']],
    ['/v1/pay?x=1&n=4', '{"n":4}', 'sk-live-3f9a-plain', `wf_${id}_pay_0`],
  );
  const runs = await runsOf(w.live, id);
  assert.equal(runs.find(({ node_id }) => node_id === 'done')?.output, true);
  assert.ok(!JSON.stringify(runs).includes('3f9a-plain'));
  const pay = runs.find(({ node_id }) => node_id === 'pay');
  const requestId = (pay?.output as { request_id: string } | undefined)?.request_id;
  await until(
    async () => (await db().request_logs.count({ where: { tenant_id: w.tenant.id, request_id: requestId ?? '' } })) === 1,
    'its call is logged',
  );
  const [logged] = await db().request_logs.findMany({ where: { tenant_id: w.tenant.id } });
  assert.deepEqual([logged?.route_id, logged?.proxy_mode, logged?.secrets_used], [route.id, 'route', ['TOKEN']]);
});

test('a refusal of the gateway is a failure of the node, and says which', async () => {
  const w = await workspace();
  const by = await withKey(w);
  await makeRoute(w, 'orders', 'http://127.0.0.1:9', { allowed_methods: ['POST'] });
  await served(running, w);
  const definition = definitionOf({ a: ['route_request', { route: 'orders', method: 'GET', path: '/' }] }, ['trigger>a']);
  const execution = await ended(await started(by, await stored(by, definition)));
  assert.deepEqual([execution.status, execution.error_code], ['failed', 'http_status']);
  assert.match(execution.error_message ?? '', /refused the call \(/);
});

test('calls start the workflows that listen to them; those that a run makes start neither it again nor a circle', async () => {
  const w = await workspace();
  const by = await withKey(w);
  const upstream = await startUpstream((_req, res) => void res.writeHead(503).end());
  await makeRoute(w, 'orders', upstream.url);
  await served(running, w);
  const trigger = {
    triggerType: 'proxy_event',
    proxyEventConfig: {
      eventTypes: ['request.server_error'],
      conditions: [
        { field: 'status', operator: 'gte', value: 503 },
        { field: 'path', operator: 'starts_with', value: '/v1' },
      ],
    },
  };
  const definition = definitionOf(
    { again: ['route_request', { route: 'orders', method: 'GET', path: '/v1/again', failOnStatus: false }] },
    ['trigger>again'],
    trigger,
  );
  const first = await stored(by, definition, { enabled: true, disabled_reason: null });
  const second = await stored(by, definition, { enabled: true, disabled_reason: null });
  for (const one of [first, second]) await inTransaction(w.live, (tx) => syncSubscription(tx, w.live, { ...one, enabled: true }));
  // Somebody calls by way of another workflow.
  const caller = await stored(
    by,
    definitionOf(
      {
        a: ['route_request', { route: 'orders', method: 'GET', path: '/v1/x', failOnStatus: false }],
        b: ['route_request', { route: 'orders', method: 'GET', path: '/other', failOnStatus: false }],
      },
      ['trigger>a', 'a>b'],
    ),
  );
  await ended(await started(by, caller));
  const count = (id: string) => db().workflow_executions.count({ where: { workflow_id: id } });
  // Each starts for the caller's call, and once more for the call that the other one then makes: [caller, first, second] is no circle yet.
  await until(
    async () => (await count(first.id)) === 2 && (await count(second.id)) === 2,
    'each was started by the caller, and by the other one',
    30_000,
  );
  const settled = async () => (await db().workflow_executions.count({ where: { tenant_id: w.tenant.id, completed_at: null } })) === 0;
  await until(settled, 'all have ended');
  await until(
    async () => (await db().deliveries.count({ where: { tenant_id: w.tenant.id, finished_at: null } })) === 0,
    'every event was looked at',
  );
  assert.deepEqual([await count(first.id), await count(second.id)], [2, 2]);
  const chains = (await db().workflow_executions.findMany({ where: { workflow_id: first.id }, orderBy: { created_at: 'asc' } })).map(
    ({ chain }) => chain,
  );
  assert.deepEqual(chains, [[caller.id], [caller.id, second.id]]);
});
