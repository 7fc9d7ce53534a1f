import './over-tls.fixture.ts';
import assert from 'node:assert/strict';
import test from 'node:test';
import { createWrapToken } from '#server/domain/wrap/tokens.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { watchEvents } from '#server/testing/events.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { served } from '../gateway.fixture.ts';
import { callApi, makeWrapped, startApi, startTlsUpstream } from './ephemeral.fixture.ts';

await testDatabase();
const running = await startApi();
const HOST = 'api.upstream.example';
const TLS = { 'x-forwarded-proto': 'https' };
const upstream = await startTlsUpstream([HOST]);
const w = await workspace();
await makeWrapped(w, 'PROVIDER', 'a-key-in-escrow', [HOST]);
await served(running, w);

test('a token that arrives in clear where TLS is served is refused, revoked and recorded', async () => {
  const { token, id } = await createWrapToken({ ...(await w.key()).as, now: new Date() }, { secret: 'PROVIDER', style: 'path' });
  const events = await watchEvents(w.live, 'wrap.token.exposed');
  const count = upstream.seen.length;
  const over = (proto: string) => callApi(running.api, `/wg/${token}/${HOST}/x`, { headers: { 'x-forwarded-proto': proto } });
  assert.equal((await over('https')).status, 200);
  const answer = await over('http');
  assert.deepEqual([answer.status, answer.headers.location, upstream.seen.length], [403, undefined, count + 1]);
  assert.ok(!answer.body.includes(token));
  const row = await db().wrap_tokens.findUniqueOrThrow({ where: { id } });
  assert.deepEqual([row.revoked_reason, row.revoked_at !== null], ['exposed', true]);
  const [entry] = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, resource_id: id, action: 'revoke' } });
  assert.equal((entry?.details as { reason?: string } | null)?.reason, 'exposed');
  await until(async () => (await over('https')).status === 401);
  await until(async () => (await events()).length > 0);
  const [told, ...more] = await events();
  assert.deepEqual([told?.about, more.length, JSON.stringify(told).includes(token.slice(4))], [id, 0, false]);
});

test('where the operator serves it, the token is the host name, and nothing of it is logged', async () => {
  const { token, base_url, base_url_style } = await createWrapToken({ ...(await w.key()).as, now: new Date() }, { secret: 'PROVIDER' });
  const label = token.slice('wkt_'.length);
  assert.deepEqual([base_url, base_url_style], [`https://${label}.wrap.service.example`, 'subdomain']);
  const count = upstream.seen.length;
  const answer = await callApi(running.api, '/v1/a%2Fb?x=1', { headers: { ...TLS, host: `${label}.wrap.service.example` } });
  assert.equal(answer.status, 200, answer.body);
  assert.deepEqual(
    [upstream.seen[count]?.url, upstream.seen[count]?.headers.host, upstream.seen[count]?.headers.authorization],
    ['/v1/a%2Fb?x=1', HOST, 'Bearer a-key-in-escrow'],
  );
  const unknown = await callApi(running.api, '/x', { headers: { ...TLS, host: `${'a'.repeat(52)}.wrap.service.example` } });
  assert.deepEqual([unknown.status, unknown.headers['x-svc-error']], [401, 'wrap_token_invalid']);
  await running.flush();
  const rows = await db().request_logs.findMany({ where: { tenant_id: w.tenant.id } });
  assert.ok(!JSON.stringify(rows, (_, v) => (typeof v === 'bigint' ? String(v) : v)).includes(label));
});
