import assert from 'node:assert/strict';
import test from 'node:test';
import { execute } from '#server/api/perform.ts';
import { refreshOpportunities } from '#server/domain/opportunities/detection.ts';
import * as opportunities from '#server/domain/opportunities/operations.ts';
import { call as logged } from '#server/domain/request-logs/call.fixture.ts';
import { createWrapToken } from '#server/domain/wrap/tokens.ts';
import { newId } from '#server/kernel/ids.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { insertRows } from '../core/log/insert.ts';
import { type Ask, makeRoute, served } from '../gateway.fixture.ts';
import { callApi, makeWrapped, startApi, startTlsUpstream } from './ephemeral.fixture.ts';

// X-Svc-Promoted-Route (interface rules 33 §5.2 and 34 §5.5): the gateway and the intercept manifest must name the same route.

await testDatabase();
const running = await startApi();
const HOST = 'api.upstream.example';
await startTlsUpstream([HOST, 'other.upstream.example'], (req, res) => {
  if (req.url?.startsWith('/lost')) return void res.destroy();
  res.writeHead(200, { 'content-type': 'application/json', 'x-svc-promoted-route': 'forged' }).end('{}');
});

async function caller(w: Workspace) {
  const { text: key } = await w.key();
  await served(running, w);
  const ask = (url: string, { headers = {}, ...more }: Ask = {}) =>
    callApi(running.api, '/v1/proxy', { key, ...more, headers: { 'x-svc-proxy-url': url, ...headers } });
  const hint = async (url: string, more: Ask = {}) => (await ask(url, more)).headers['x-svc-promoted-route'];
  const listed = async (environment?: string) => {
    const { output } = await execute(
      opportunities.manifest as AnyOperation,
      { ...w.live, now: new Date() },
      { ...(environment && { environment }) },
    );
    return (output as { routes: { slug: string }[] }).routes.map(({ slug }) => slug);
  };
  return { ask, hint, listed };
}

const ON = { intercept_enabled: true } as const;

test('an answer names the route that covers its host and path, the longest base path first', async () => {
  const w = await workspace();
  await makeRoute(w, 'all', `https://${HOST}`, ON);
  await makeRoute(w, 'crm', `https://${HOST}/crm/v3/`, ON);
  await makeRoute(w, 'crm-b', `https://${HOST}/crm/v3`, ON);
  await makeRoute(w, 'elsewhere', 'https://elsewhere.example', ON);
  const { hint, listed } = await caller(w);
  assert.deepEqual(await listed(), ['crm', 'crm-b', 'all', 'elsewhere']);
  for (const [path, slug] of [
    ['/crm/v3', 'crm'],
    ['/crm/v3/contacts?x=1', 'crm'],
    ['/crm/v30', 'all'],
    ['/', 'all'],
  ] as const)
    assert.equal(await hint(`https://${HOST}${path}`), slug, path);
  assert.equal(await hint(`https://${HOST.toUpperCase()}./crm/v3`), 'crm', 'upper case and a trailing dot');
  assert.equal(await hint('https://other.upstream.example/'), undefined, 'and the header of an upstream never passes');
});

test('a route that the manifest leaves out is never named', async () => {
  const w = await workspace();
  await makeRoute(w, 'off', `https://${HOST}/a`);
  await makeRoute(w, 'disabled', `https://${HOST}/b`, ON, { enabled: false });
  await makeRoute(w, 'paused', `https://${HOST}/c`, { ...ON, enabled: false });
  await makeRoute(w, 'port', `https://${HOST}:8443/d`, ON);
  await makeRoute(w, 'secret', `https://{{secret:H}}/e`, ON);
  await makeRoute(w, 'test', `https://${HOST}`, ON, { space: 'test' });
  const { hint, listed } = await caller(w);
  assert.deepEqual(await listed(), []);
  for (const path of ['/a', '/b', '/c', '/d', '/e']) assert.equal(await hint(`https://${HOST}${path}`), undefined, path);
});

test('the environment of the call decides, and a variable is followed when it changes', async () => {
  const w = await workspace();
  const collection = await db().collections.create({ data: { id: newId(), tenant_id: w.tenant.id, sandbox: false, name: 'c', slug: 'c' } });
  const variable = await db().collection_variables.create({
    data: {
      ...{ id: newId(), tenant_id: w.tenant.id, sandbox: false, collection_id: collection.id },
      ...{ key: 'host', type: 'value', value: 'elsewhere.example' },
    },
  });
  const { id: route_id, environment } = await makeRoute(w, 'staged', 'https://{{var:host}}/v1', ON, { collectionId: collection.id });
  const staging = (await made(w.live, 'environments.create', { name: 'staging', display_name: 'Staging' })) as { id: string };
  await db().route_environment_configs.create({
    data: {
      ...{ id: newId(), tenant_id: w.tenant.id, sandbox: false, route_id, environment_id: staging.id, environment_name: 'staging' },
      ...{ is_base: false, intercept_enabled: false, overridden_fields: ['intercept_enabled'] },
    } as never,
  });
  const { hint, listed } = await caller(w);
  const at = (name: string) => hint(`https://${HOST}/v1/x`, { headers: { 'x-svc-environment': name } });
  assert.equal(await at(environment.name), undefined);
  await db().collection_variables.update({ where: { id: variable.id }, data: { value: HOST } });
  await served(running, w);
  assert.deepEqual([await at(environment.name), await at('staging'), await at('nowhere')], ['staged', undefined, undefined]);
  assert.deepEqual([await listed(environment.name), await listed('staging')], [['staged'], []]);
});

test('a refusal of ours carries no hint', async () => {
  const w = await workspace();
  await makeRoute(w, 'all', `https://${HOST}`, ON);
  const { ask } = await caller(w);
  const lost = await ask(`https://${HOST}/lost`);
  assert.deepEqual([lost.headers['x-svc-origin'], lost.headers['x-svc-promoted-route']], ['service', undefined]);
  const invalid = await ask(`https://${HOST}/`, { headers: { 'x-svc-timeout-ms': 'x' } });
  assert.deepEqual([invalid.status, invalid.headers['x-svc-promoted-route']], [400, undefined]);
});

test('after an acceptance the manifest lists the host, and both ways past the route name it', async () => {
  const w = await workspace();
  const secret = await makeWrapped(w, 'PROVIDER', 'escrowed-key', [HOST]);
  const now = () => ({ ...w.live, now: new Date(), warnings: [] });
  const { token } = await createWrapToken({ ...(await w.key()).as, now: new Date() }, { secret: 'PROVIDER', host: HOST });
  const rows = Array.from({ length: 12 }, () => logged(w.live, { proxy_mode: 'ephemeral', upstream_host: HOST, path: '/v1/items' }));
  await insertRows(sql(), rows);
  await refreshOpportunities(now(), { atMostEvery: 0 });
  const { hint, listed } = await caller(w);
  const throughToken = async () => (await callApi(running.api, `/wg/${token}/${HOST}/v1/items`)).headers['x-svc-promoted-route'];
  assert.deepEqual([await hint(`https://${HOST}/v1`), await throughToken(), await listed()], [undefined, undefined, []]);
  const found = await db().opportunities.findFirstOrThrow({ where: { tenant_id: w.tenant.id, destination_host: HOST } });
  const { output } = await execute(opportunities.accept as AnyOperation, now(), { id: found.id, secret: secret.id });
  const { route } = output as { route: { slug: string } };
  await served(running, w);
  assert.deepEqual([await hint(`https://${HOST}/v1`), await throughToken(), await listed()], [route.slug, route.slug, [route.slug]]);
});
