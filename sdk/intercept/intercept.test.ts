import assert from 'node:assert/strict';
import test from 'node:test';
import OpenAI from 'openai';
import { startApi, startTlsUpstream } from '#server/gateway/ephemeral/ephemeral.fixture.ts';
import { makeRoute, makeSecret } from '#server/gateway/gateway.fixture.ts';
import { startWeb } from '#server/gateway/v1/web.fixture.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { createIntercept, type InterceptOptions } from './intercept.ts';

// An unmodified SDK through a running gateway: what reaches its provider has the key that only the route knows.

await testDatabase({ SVC_GATEWAYS: '1' });
await startWeb();
const running = await startApi();
const completion = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
});
const upstream = await startTlsUpstream(['api.openai.com'], (_req, res) => {
  res.writeHead(200, { 'content-type': 'application/json' }).end(completion);
});

/** A workspace, and an application in it whose direct calls are noted and answered here. */
async function application(more: Partial<InterceptOptions> = {}) {
  const w = await workspace();
  const { text: key } = await w.key();
  const direct: string[] = [];
  const intercept = createIntercept({
    base_url: `http://127.0.0.1:${running.api}/v1`,
    proxy_url: `http://127.0.0.1:${running.port}/p/${w.tenant.slug}`,
    credential: key,
    env: {},
    warn: () => undefined,
    fetch: (async (input, init) => {
      const url = input instanceof Request ? input.url : String(input);
      if (url.startsWith('http://127.0.0.1:')) return fetch(input, init);
      direct.push(url);
      return new Response(completion, { headers: { 'content-type': 'application/json' } });
    }) as typeof fetch,
    ...more,
  });
  const openai = new OpenAI({ apiKey: 'its-own-key', maxRetries: 0, fetch: intercept.fetch });
  const ask = async () =>
    (await openai.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })).choices[0]?.message.content;
  const promoted = async (config: Record<string, unknown> = {}) => {
    await makeSecret(w, 'OPENAI', { production: 'the-real-key' });
    const route = await makeRoute(w, 'openai', 'https://api.openai.com/v1', {
      inject_headers_json: { Authorization: 'Bearer {{secret:OPENAI}}' },
      intercept_enabled: true,
      ...config,
    });
    await running.runtime.snapshots.refresh(w.tenant.id);
    return route;
  };
  return { w, intercept, ask, direct, promoted };
}

test('an application reads a promoted route without a change, and goes back when the route goes', async () => {
  const { intercept, ask, direct, promoted, w } = await application();
  assert.equal(await ask(), 'hello');
  assert.deepEqual(direct, ['https://api.openai.com/v1/chat/completions'], 'nothing covers the host yet');
  const route = await promoted();
  assert.equal(await intercept.refresh(), true);
  assert.equal(await ask(), 'hello');
  const seen = upstream.seen.at(-1);
  assert.deepEqual(
    [seen?.url, seen?.headers.authorization, seen?.headers['x-svc-route']],
    ['/v1/chat/completions', 'Bearer the-real-key', undefined],
  );
  assert.ok(!JSON.stringify(seen).includes('its-own-key'));
  assert.equal(direct.length, 1);
  // The manifest in hand still lists it: the gateway's refusal is what makes the client look again.
  const before = upstream.seen.length;
  await db().routes.update({ where: { id: route.id }, data: { enabled: false } });
  await running.runtime.snapshots.refresh(w.tenant.id);
  assert.equal(await ask(), 'hello');
  assert.deepEqual([upstream.seen.length, direct.length], [before, 2]);
  assert.equal((await intercept.decide('https://api.openai.com/v1/models')).reason, 'unlisted');
});

test('calls of an intercepting SDK are marked in the log, and uncovered ones are reported by name alone', async () => {
  const { intercept, ask, promoted, w } = await application();
  await promoted();
  assert.equal(await ask(), 'hello');
  await intercept.fetch('https://api.uncovered.example/v1/things/secret-path?key=a-secret-value', {
    method: 'POST',
    headers: { authorization: 'Bearer a-secret-value', 'x-csrf-token': 'another-secret' },
    body: 'a-secret-value',
  });
  await intercept.stop();
  await running.flush();
  const [row] = await db().request_logs.findMany({ where: { tenant_id: w.tenant.id } });
  assert.equal(row?.client_origin, 'sdk_intercept');
  const observed = await db().egress_observations.findMany({ where: { tenant_id: w.tenant.id }, orderBy: { header_name: 'asc' } });
  assert.deepEqual(
    observed.map((o) => [o.host, o.first_segment, o.method, o.header_name, Number(o.total_count)]),
    [
      ['api.uncovered.example', '/v1', 'POST', 'authorization', 1],
      ['api.uncovered.example', '/v1', 'POST', 'x-csrf-token', 1],
    ],
  );
});

test('a service that can’t be reached: a route is not bypassed, and SERVICE_INTERCEPT=off asks for nothing', async () => {
  const { intercept, promoted, w } = await application();
  await promoted();
  await intercept.refresh();
  const away = await application({ proxy_url: `http://127.0.0.1:1/p/${w.tenant.slug}` });
  await away.promoted();
  await away.intercept.refresh();
  await assert.rejects(away.intercept.fetch('https://api.openai.com/v1/models'), { name: 'ConnectionError' });
  assert.deepEqual(away.direct, []);
  const off = await application({ env: { SERVICE_INTERCEPT: 'OFF' }, base_url: 'http://127.0.0.1:1/v1' });
  assert.equal(await off.ask(), 'hello');
  assert.equal((await off.intercept.decide('https://api.openai.com/')).reason, 'kill_switch');
});
