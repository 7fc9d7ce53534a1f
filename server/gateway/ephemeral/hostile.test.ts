import assert from 'node:assert/strict';
import { request } from 'node:http';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { createResolver } from '#server/platform/http-out/resolver.ts';
import { createUpstreamPools } from '#server/platform/http-out/upstream-pool.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { served } from '../gateway.fixture.ts';
import { callApi, makeWrapped, startApi, startTlsUpstream } from './ephemeral.fixture.ts';

await testDatabase();
const running = await startApi();
const HOST = 'api.upstream.example';
const MiB = 1024 * 1024;
const upstream = await startTlsUpstream([HOST], (req, res) => {
  if (req.url?.startsWith('/breaks')) return void res.destroy();
  if (req.url !== '/large') return void res.writeHead(200).end('{}');
  res.writeHead(200, { 'content-type': 'application/octet-stream' });
  const chunk = Buffer.alloc(MiB, 7);
  let left = 300;
  const more = () => {
    while (left-- > 0) if (!res.write(chunk)) return void res.once('drain', more);
    res.end();
  };
  more();
});
const w = await workspace();
const { text: key } = await w.key();
const ESCROWED = 'a-key-in-escrow/+"of the provider';
await makeWrapped(w, 'PROVIDER', ESCROWED, [HOST]);
await served(running, w);

test('three hundred megabytes stream through without being held', async () => {
  const before = process.memoryUsage().rss;
  let peak = before;
  const bytes = await new Promise<number>((resolve, reject) => {
    const headers = { host: `127.0.0.1:${running.api}`, authorization: `Bearer ${key}`, 'x-svc-proxy-url': `https://${HOST}/large` };
    request({ port: running.api, host: '127.0.0.1', path: '/v1/proxy', headers, agent: false }, (res) => {
      let count = 0;
      res.on('data', (chunk: Buffer) => {
        count += chunk.length;
        peak = Math.max(peak, process.memoryUsage().rss);
      });
      res.on('end', () => resolve(count));
      res.on('error', reject);
    })
      .on('error', reject)
      .end();
  });
  assert.equal(bytes, 300 * MiB);
  assert.ok(peak - before < 150 * MiB, `${Math.round((peak - before) / MiB)} MiB more`);
});

test('addresses are judged on the answer that is connected to: private, mixed and changing answers are refused', async () => {
  const answers: Record<string, string[][]> = {
    'private.rebind.example': [['10.0.0.1']],
    'mixed.rebind.example': [['203.0.114.7', '169.254.169.254']],
    'turns.rebind.example': [['203.0.114.7'], ['192.168.0.1'], ['192.168.0.1']],
  };
  const asked: Record<string, number> = {};
  const { runtime } = running;
  const before = { resolver: runtime.resolver, pools: runtime.pools };
  const resolver = createResolver({
    settings: { ...runtime.resolver.settings, privateAllow: [] },
    resolve: async (host, family) => {
      if (family === 6) throw new Error('none');
      const n = asked[host] ?? 0;
      asked[host] = n + 1;
      return (answers[host]?.[n] ?? []).map((address) => ({ address, ttl: 60 }));
    },
  });
  runtime.resolver = resolver;
  runtime.pools = createUpstreamPools({ resolver, connectTimeoutMs: 300 });
  try {
    const code = async (host: string) => {
      const answer = await callApi(running.api, '/v1/proxy', {
        key,
        headers: { 'x-svc-proxy-url': `https://${host}/`, 'x-svc-timeout-ms': '2000' },
      });
      assert.ok(!/\d+\.\d+\.\d+\.\d+/.test(answer.body), 'no address is told');
      return `${answer.status} ${answer.headers['x-svc-error']}`;
    };
    assert.equal(await code('private.rebind.example'), '403 upstream_not_allowed');
    assert.equal(await code('mixed.rebind.example'), '403 upstream_not_allowed');
    assert.match(await code('turns.rebind.example'), /^50[24] /);
    assert.equal(asked['turns.rebind.example'], 1, 'one lookup a call');
    for (const host of ['metadata.google.internal', 'x.internal', 'printer.local', 'a.home.arpa'])
      assert.equal(await code(host), '403 upstream_not_allowed', host);
  } finally {
    await runtime.pools.close();
    Object.assign(runtime, before);
  }
});

const json = (headers: Record<string, string> = {}) => ({
  method: 'POST',
  key,
  headers: { 'content-type': 'application/json', 'x-svc-proxy-url': `https://${HOST}/`, ...headers },
});

test('a name that looks like a good host is not that host: homographs, dots and ends of other names', async () => {
  const asked = async (host: string, secret: Record<string, string> = { 'x-svc-upstream-auth-secret': 'PROVIDER' }) => {
    const before = upstream.seen.length;
    const headers = { 'x-svc-proxy-url': `https://${host}/`, ...secret };
    const answer = await callApi(running.api, '/v1/proxy', { key, headers }).catch(() => undefined);
    const sent = upstream.seen.slice(before).map(({ headers: { host: to } }) => to);
    return { code: answer ? `${answer.status} ${answer.headers['x-svc-error'] ?? ''}`.trim() : 'not sent', sent };
  };
  const bytes = (text: string) => Buffer.from(text).toString('latin1');
  for (const [host, code] of [
    [bytes('\u0430pi.upstream.example'), '400 validation_error'],
    [bytes('api.upstream\uff0eexample'), '400 validation_error'],
    [bytes('api\u3002upstream.example'), '400 validation_error'],
    [bytes('api.up\u00adstream.example'), '400 validation_error'],
    ['xn--pi-7kc.upstream.example', '403 secret_host_not_allowed'],
    ['%61pi.upstream.example', '400 validation_error'],
    ['api..upstream.example', '400 validation_error'],
    ['api.upstream.example..', '400 validation_error'],
    ['api.upstream.example.evil.example', '403 secret_host_not_allowed'],
    ['evil-api.upstream.example', '403 secret_host_not_allowed'],
    ['upstream.example', '403 secret_host_not_allowed'],
    ['localhost.', '400 validation_error'],
    ['127.0.0.1.', '400 validation_error'],
  ] as const)
    assert.deepEqual(await asked(host), { code, sent: [] }, host);
  for (const host of ['metadata.google.internal.', 'METADATA.google.INTERNAL.'])
    assert.deepEqual(await asked(host, {}), { code: '403 upstream_not_allowed', sent: [] }, host);
  for (const host of ['API.upstream.example', 'api.upstream.example.', 'api.upstream.example:443'])
    assert.deepEqual(await asked(host), { code: '200', sent: [HOST] }, host);
});

test('a call that is refused for its templates never opens a socket', async () => {
  let sockets = 0;
  const counted = () => void sockets++;
  // Kept-alive sockets of calls before would hide a call: only a new one can be counted.
  upstream.server.closeAllConnections();
  upstream.server.on('connection', counted);
  const code = async (body: string, headers?: Record<string, string>) => {
    const answer = await callApi(running.api, '/v1/proxy', { ...json(headers), body });
    return `${answer.status} ${answer.headers['x-svc-error']}`;
  };
  assert.equal(await code('{"a":"{{ token: tok_unknown }}"}'), '404 token_not_found');
  assert.equal(await code('{"a":"{{ encrypted | json: $.x }}"}'), '400 template_unresolved');
  assert.equal(await code('{"a":"{{ secret: MISSING }}"}'), '424 secret_not_found');
  assert.equal(await code('{"a":"{{ token }}"}'), '400 validation_error');
  assert.equal(await code('{}', { 'x-svc-upstream-auth-secret': 'MISSING' }), '404 credential_not_found');
  assert.equal(sockets, 0);
  assert.equal(await code('{}'), '200 undefined');
  assert.equal(sockets, 1, 'the count counts');
  upstream.server.off('connection', counted);
});

test('ten MiB of brackets are refused, and the calls of others are answered meanwhile', async () => {
  const body = '['.repeat(10 * MiB);
  const nested = callApi(running.api, '/v1/proxy', { ...json(), body });
  const other = await callApi(running.api, '/v1/proxy', { ...json(), body: '{}' });
  const refused = await nested;
  assert.deepEqual([refused.status, refused.headers['x-svc-error'], other.status], [400, 'validation_error', 200]);
  const streamed = await callApi(running.api, '/v1/proxy', { ...json({ 'x-svc-proxy-mode': 'transparent' }), body: '['.repeat(1_000) });
  assert.equal(streamed.status, 200, 'in transparent mode nothing is read');
});

test('no value that a call used is in a log row, a refusal or a header of an answer', async () => {
  const sent = ['transit-value-of-the-caller', 'value-of-x-svc-encrypted', 'body-of-the-caller', 'value-in-the-query'];
  const encrypted = Buffer.from(JSON.stringify({ v: sent[1] })).toString('base64');
  const answers = [];
  for (const path of ['/', '/breaks'])
    for (const headers of [{ 'x-svc-upstream-auth-secret': 'PROVIDER' }, { 'x-svc-upstream-authorization': `Bearer ${sent[0]}` }]) {
      const url = { 'x-svc-proxy-url': `https://${HOST}${path}?q=${sent[3]}`, 'x-svc-encrypted': encrypted };
      const body = JSON.stringify({ a: sent[2], b: '{{ encrypted | json: $.v }}' });
      answers.push(await callApi(running.api, '/v1/proxy', { ...json({ ...headers, ...url } as never), body }));
    }
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 502, 502],
  );
  await running.flush();
  const rows = await sql().query('select to_jsonb(l) as row from request_logs l where tenant_id = $1', [w.tenant.id]);
  assert.ok(rows.rows.length >= 4);
  const text = JSON.stringify([rows.rows, answers.map(({ headers, body }) => ({ headers, body }))]);
  for (const value of [...sent, ESCROWED, JSON.stringify(ESCROWED).slice(1, -1), encrypted, Buffer.from(ESCROWED).toString('base64')])
    assert.ok(!text.includes(value), value);
});

test('a workspace that has used up its month, or lost its subscription, makes no call', async () => {
  const one = await workspace({ plan: 'free' });
  const { text } = await one.key();
  await served(running, one);
  const code = async () => {
    const answer = await callApi(running.api, '/v1/proxy', { key: text, headers: { 'x-svc-proxy-url': `https://${HOST}/` } });
    return `${answer.status} ${answer.headers['x-svc-error']} ${answer.headers['retry-after']}`;
  };
  assert.match(await code(), /^200 /);
  await db().tenant_limit_overrides.create({ data: { tenant_id: one.tenant.id, kind: 'api_calls', value: 1 } });
  await served(running, one);
  assert.equal(await code(), '402 plan_limit undefined');
  await db().tenants.update({ where: { id: one.tenant.id }, data: { subscription_status: 'canceled' } });
  await served(running, one);
  assert.equal(await code(), '403 subscription_inactive undefined');
});
