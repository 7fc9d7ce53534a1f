import assert from 'node:assert/strict';
import test from 'node:test';
import { updateWrapCredential } from '#server/domain/wrap/credentials.ts';
import { createWrapToken, revokeWrapToken } from '#server/domain/wrap/tokens.ts';
import { db } from '#server/platform/db.ts';
import { egress } from '#server/platform/egress.ts';
import { env } from '#server/platform/env.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { type Ask, served } from '../gateway.fixture.ts';
import { callApi, makeWrapped, startApi, startTlsUpstream } from './ephemeral.fixture.ts';

await testDatabase();
const running = await startApi();
const HOST = 'api.upstream.example';
const OTHER = 'other.upstream.example';
const SECRET = 'escrowed-key-of-the-provider';
const upstream = await startTlsUpstream([HOST, OTHER]);

async function holder() {
  const w = await workspace();
  const secret = await makeWrapped(w, 'PROVIDER', SECRET, [HOST, OTHER]);
  await served(running, w);
  const { as } = await w.key();
  const mint = (more: object = {}) => createWrapToken({ ...as, now: new Date() }, { secret: 'PROVIDER', host: HOST, ...more });
  const made = await mint();
  const call = (path: string, ask: Ask = {}, port = running.api) => callApi(port, path, ask);
  const seen = async (path: string, ask: Ask = {}) => {
    const before = upstream.seen.length;
    const answer = await call(path, ask);
    assert.equal(upstream.seen.length, before + 1, answer.body);
    return { answer, got: upstream.seen[before]! };
  };
  const code = async (path: string, ask: Ask = {}, port = running.api) => {
    const before = upstream.seen.length;
    const answer = await call(path, ask, port);
    assert.equal(upstream.seen.length, before, 'nothing reached the upstream');
    assert.ok(!answer.body.includes('wkt_') && !JSON.stringify(answer.headers).includes('wkt_'), 'no echo of the token');
    return `${answer.status} ${answer.headers['x-svc-error']}`;
  };
  return { w, secret, mint, token: made.token, made, call, seen, code };
}

test('an SDK that only knows another address reaches its provider with the real key, byte for byte', async () => {
  const { token, made, seen, w } = await holder();
  assert.equal(made.base_url, `${env.PUBLIC_API_URL}/wg/${token}/${HOST}`);
  const { got, answer } = await seen(`/wg/${token}/${HOST}/v1/a%2Fb//c?x=1&x=2`, {
    method: 'POST',
    body: '{"x":"{{ token: y }}"',
    headers: {
      authorization: 'Bearer unused',
      'idempotency-key': 'k',
      'content-type': 'application/json',
      'x-svc-upstream-authorization': 'Bearer evil',
      'x-svc-proxy-url': `https://${OTHER}/`,
    },
  });
  assert.deepEqual(
    [got.url, got.body, got.headers.authorization, got.headers['idempotency-key']],
    ['/v1/a%2Fb//c?x=1&x=2', '{"x":"{{ token: y }}"', `Bearer ${SECRET}`, 'k'],
  );
  assert.deepEqual([answer.headers['x-svc-plane'], answer.headers['x-svc-destination-status']], ['proxy', '200']);
  await running.flush();
  const [row] = await db().request_logs.findMany({ where: { tenant_id: w.tenant.id } });
  assert.deepEqual([row?.proxy_mode, row?.path, row?.upstream_host], ['wrap_gateway', '/v1/a%2Fb//c?x=*&x=*', HOST]);
  assert.ok(!JSON.stringify(row, (_, v) => (typeof v === 'bigint' ? String(v) : v)).includes(token.slice(4)));
  const usage = await db().credential_usage.findUnique({ where: { id: made.id } });
  assert.ok(usage?.last_used_at);
});

test('a token of one host calls no other, however the address is written', async () => {
  const { token, code, seen } = await holder();
  assert.equal(await code(`/wg/${token}/${OTHER}/x`), '403 host_not_allowed');
  assert.equal(await code(`/wg/${token}/${HOST}%2F..%2F${OTHER}/x`), '403 host_not_allowed');
  assert.equal(await code(`/wg/${token}/${HOST}@${OTHER}/x`), '403 host_not_allowed');
  assert.equal(await code(`/wg/${token}/${HOST}:8443/x`), '403 host_not_allowed');
  assert.equal(await code(`/wg/${token}//x`), '403 host_not_allowed');
  assert.equal(await code(`/wg/${token}`), '403 host_not_allowed');
  for (const path of ['/../x', '/a/%2e%2e/b', '/a/..%2fb', '/..;x/b'])
    assert.equal(await code(`/wg/${token}/${HOST}${path}`), '400 invalid_path', path);
  assert.equal((await seen(`/wg/${token}/${HOST}//${OTHER}/x`)).got.url, `//${OTHER}/x`);
  const absolute = await callApi(running.api, `http://${OTHER}/wg/${token}/${HOST}/x`, {});
  assert.equal(absolute.status, 400);
  for (const name of ['host', 'x-forwarded-host', 'x-original-host', 'forwarded', 'x-svc-proxy-url', ':authority']) {
    const count = upstream.seen.length;
    const value = name === 'forwarded' ? `host=${OTHER}` : name === 'x-svc-proxy-url' ? `https://${OTHER}/` : OTHER;
    // Node's client refuses a pseudo-header. For :authority itself see http2.test.ts.
    const answer = await callApi(running.api, `/wg/${token}/${HOST}/x`, { headers: { [name]: value } }).catch(() => null);
    const got = upstream.seen.slice(count);
    assert.ok(got.length === 1 ? got[0]?.headers.host === HOST : got.length === 0, `${name}: ${answer?.status}`);
  }
});

test('malformed, unknown, revoked, expired and foreign tokens are one answer', async () => {
  const { w, mint, code, token, call } = await holder();
  const strip = (text: string) => text.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID').replace(/"latency_ms":\d+/g, 'MS');
  const body = async (text: string, port = running.api) => strip((await call(`/wg/${text}/${HOST}/x`, {}, port)).body);
  const unknown = await body(`wkt_${'a'.repeat(52)}`);
  assert.match(unknown, /wrap_token_invalid/);
  assert.equal(await body('wkt_short'), unknown);
  assert.equal(await body(token, running.sandbox), unknown, 'a token of Live on the Test host');
  const ended = await mint({ ttl_seconds: 60 });
  await db().wrap_tokens.update({ where: { id: ended.id }, data: { expires_at: new Date(Date.now() - 1) } });
  assert.equal(await body(ended.token), unknown);
  const gone = await mint();
  assert.equal((await call(`/wg/${gone.token}/${HOST}/x`)).status, 200);
  await revokeWrapToken({ ...w.live, now: new Date() }, { id: gone.id });
  await until(async () => (await body(gone.token)) === unknown);
  assert.equal(await code(`/wg/${gone.token}/${HOST}/x`), '401 wrap_token_invalid');
});

test('a host that is taken away takes its tokens with it', async () => {
  const { w, secret, code, token } = await holder();
  await updateWrapCredential({ ...w.live, now: new Date() }, { secret_id: secret.id, hosts: [OTHER] });
  await served(running, w);
  await until(async () => (await code(`/wg/${token}/${HOST}/x`)) === '401 wrap_token_invalid');
  const entries = await db().audit_logs.findMany({
    where: { tenant_id: w.tenant.id, resource_type: 'wrap_token' },
    orderBy: { created_at: 'asc' },
  });
  assert.deepEqual(
    entries.map((one) => one.action),
    ['create', 'revoke'],
  );
});

test('the timeout is the only header of ours that counts', async () => {
  const { token, code } = await holder();
  assert.equal(await code(`/wg/${token}/${HOST}/x`, { headers: { 'x-svc-timeout-ms': '30001' } }), '400 validation_error');
  assert.ok(egress().settings.testHosts.has(`${HOST}:443`));
});

test('one token makes fifty calls a second', async () => {
  const { token, made, call } = await holder();
  const rule = { key: `wkt:${made.id}`, limit: 50, windowMs: 1_000, burst: 50 };
  // A bucket that was emptied a moment from now has nothing left now, however slow this machine is.
  for (let i = 0; i < 50; i++) await running.runtime.counters.take([rule], Date.now() + 60_000);
  const refused = await call(`/wg/${token}/${HOST}/x`);
  assert.deepEqual([refused.status, refused.headers['x-svc-error']], [429, 'client_rate_limit_exceeded']);
  assert.ok(Number(refused.headers['retry-after']) >= 1);
});
