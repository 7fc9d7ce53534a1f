import assert from 'node:assert/strict';
import test from 'node:test';
import { tokenize } from '#server/custody/vaults/tokenize.ts';
import { makeVault } from '#server/domain/vaults/vaults.fixture.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { type Ask, makeSecret, served } from '../gateway.fixture.ts';
import { callApi, makeWrapped, startApi, startTlsUpstream } from './ephemeral.fixture.ts';

await testDatabase();
const running = await startApi();
const HOST = 'api.upstream.example';
const OTHER = 'other.upstream.example';
const SECRET = 'provider-key-that-no-caller-holds';
const upstream = await startTlsUpstream([HOST, OTHER, 'api.stripe.com'], (req, res) => {
  if (req.url?.startsWith('/hang')) return;
  if (req.url?.startsWith('/redirect')) return void res.writeHead(302, { location: 'http://169.254.169.254/latest' }).end();
  if (req.url?.startsWith('/401'))
    return void res.writeHead(401, { 'www-authenticate': 'Bearer', 'x-svc-origin': 'service', 'x-svc-error': 'forged' }).end('{}');
  res.writeHead(200, { 'content-type': 'application/json', 'set-cookie': 'a=1' }).end('{"ok":true}');
});

type Headers = Record<string, string>;
async function caller() {
  const w = await workspace();
  const { text: key } = await w.key();
  await makeWrapped(w, 'PROVIDER', SECRET, [HOST]);
  await served(running, w);
  const call = (url: string, { headers = {}, ...more }: Ask = {}) =>
    callApi(running.api, '/v1/proxy', { key, ...more, headers: { 'x-svc-proxy-url': url, ...(headers as Headers) } });
  const seen = async (url: string, ask: Ask = {}) => {
    const before = upstream.seen.length;
    const answer = await call(url, ask);
    assert.equal(upstream.seen.length, before + 1, answer.body);
    return { answer, got: upstream.seen[before]! };
  };
  const code = async (url: string, ask: Ask = {}) => {
    const before = upstream.seen.length;
    const answer = await call(url, ask);
    assert.equal(upstream.seen.length, before, 'nothing reached the upstream');
    const { error, service } = answer.json() as unknown as { error: { type: string }; service: { code: string; plane: string } };
    assert.deepEqual([answer.headers['x-svc-error'], service.code, service.plane], [service.code, answer.headers['x-svc-error'], 'proxy']);
    assert.equal(answer.headers['x-svc-upstream-status'] ?? answer.headers['x-svc-destination-status'], undefined);
    assert.equal(answer.headers['x-svc-origin'], 'service');
    return `${answer.status} ${service.code}${error.type === service.code ? '' : ` ${error.type}`}`;
  };
  return { w, key, call, seen, code };
}
const JSON_TYPE = { 'content-type': 'application/json' };

test('forwards a call to the host it names and answers with its words and the block', async () => {
  const { seen } = await caller();
  const { answer, got } = await seen(`https://${HOST}/v1/a%2Fb//c?x=1`, {
    method: 'PATCH',
    body: '{"n": 1.10}',
    headers: {
      ...JSON_TYPE,
      'x-one': 'a',
      'idempotency-key': 'k1',
      'x-api-key': 'the-providers-own',
      'x-forwarded-for': '1.2.3.4',
      'x-real-ip': '1.2.3.4',
      via: '1.1 x',
      dpop: 'p',
      forwarded: 'for=1.2.3.4',
      'x-svc-anything': 'x',
      'x-gone': 'y',
      connection: 'close, x-gone',
      te: 'trailers',
    },
  });
  assert.deepEqual([got.method, got.url, got.body], ['PATCH', '/v1/a%2Fb//c?x=1', '{"n": 1.10}']);
  const names = got.rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
  assert.deepEqual(
    names.filter((name) => name !== 'connection').sort(),
    ['content-length', 'content-type', 'host', 'idempotency-key', 'x-api-key', 'x-one'],
    'no other header arrives, and none is invented',
  );
  assert.equal(got.headers.host, HOST);
  assert.equal(answer.status, 200);
  const { headers } = answer;
  assert.deepEqual(
    [headers['x-svc-origin'], headers['x-svc-plane'], headers['x-svc-upstream-status'], headers['x-svc-destination-status']],
    ['upstream', 'proxy', '200', '200'],
  );
  assert.deepEqual([headers['set-cookie'], headers.via], [['a=1'], undefined]);
});

test('a key in x-api-key authenticates and stays here; the query of the call follows that of the URL', async () => {
  const { key } = await caller();
  const before = upstream.seen.length;
  const answer = await callApi(running.api, '/v1/proxy?b=2&b=3', {
    headers: { 'x-api-key': key, 'x-svc-proxy-url': `https://${HOST}/p?a=1` },
  });
  assert.equal(answer.status, 200);
  const got = upstream.seen[before]!;
  assert.deepEqual([got.url, got.headers['x-api-key'], got.headers.authorization], ['/p?a=1&b=2&b=3', undefined, undefined]);
});

test('a wrap credential is put in for its hosts alone, and the caller never sees it', async () => {
  const { seen, code, w } = await caller();
  const escrow = { 'x-svc-upstream-auth-secret': 'PROVIDER' };
  assert.equal((await seen(`https://${HOST}/x`, { headers: escrow })).got.headers.authorization, `Bearer ${SECRET}`);
  assert.equal(
    (await seen(`https://${HOST}/x`, { headers: { ...escrow, 'x-svc-upstream-auth-scheme': 'none' } })).got.headers.authorization,
    SECRET,
  );
  const basic = (await seen(`https://${HOST}/x`, { headers: { ...escrow, 'x-svc-upstream-auth-scheme': 'Basic' } })).got.headers
    .authorization;
  assert.equal(basic, `Basic ${Buffer.from(`${SECRET}:`).toString('base64')}`);
  assert.equal(await code(`https://${OTHER}/x`, { headers: escrow }), '403 secret_host_not_allowed');
  assert.equal(await code(`https://${HOST}/x`, { headers: { 'x-svc-upstream-auth-secret': 'NOTHING' } }), '404 credential_not_found');
  await makeSecret(w, 'PLAIN', { production: 'x' });
  await makeWrapped(w, 'KEYED', 'abc', [HOST], { header_name: 'X-Api-Key', value_prefix: '' });
  await served(running, w);
  assert.equal(await code(`https://${HOST}/x`, { headers: { 'x-svc-upstream-auth-secret': 'PLAIN' } }), '404 credential_not_found');
  const keyed = (await seen(`https://${HOST}/x`, { headers: { 'x-svc-upstream-auth-secret': 'KEYED', 'x-api-key': 'mine' } })).got;
  assert.deepEqual([keyed.headers['x-api-key'], keyed.headers.authorization], ['abc', undefined]);
  assert.equal(
    await code(`https://${HOST}/x`, { headers: { ...escrow, 'x-svc-environment': 'staging' } }),
    '424 secret_environment_missing',
  );
  await running.flush();
  const rows = await db().request_logs.findMany({ where: { tenant_id: w.tenant.id } });
  assert.ok(rows.length >= 7 && rows.every((row) => row.proxy_mode === 'ephemeral'));
  assert.ok(!JSON.stringify(rows, (_, v) => (typeof v === 'bigint' ? String(v) : v)).includes(SECRET));
  const first = rows.find((row) => row.status_code === 200)!;
  assert.deepEqual([first.upstream_host, first.path, first.secrets_used], [HOST, '/x', ['PROVIDER']]);
  assert.equal((first.trace as { proxied: { credential_mode: string } }).proxied.credential_mode, 'escrow');
});

test('a credential in transit is sent and never kept; both ways at once are refused', async () => {
  const { seen, code, w } = await caller();
  const transit = { 'x-svc-upstream-authorization': 'Basic transit-credential-1' };
  assert.equal((await seen(`https://${OTHER}/t?k=v`, { headers: transit })).got.headers.authorization, 'Basic transit-credential-1');
  assert.equal(
    await code(`https://${HOST}/`, { headers: { ...transit, 'x-svc-upstream-auth-secret': 'PROVIDER' } }),
    '400 validation_error',
  );
  await running.flush();
  const rows = await db().request_logs.findMany({ where: { tenant_id: w.tenant.id, status_code: 200 } });
  assert.equal(rows[0]?.path, '/t?k=*');
  assert.ok(!JSON.stringify(rows, (_, v) => (typeof v === 'bigint' ? String(v) : v)).includes('transit-credential'));
});

test('vault tokens and encrypted values are put in their places, and everything else stays byte for byte', async () => {
  const { w, seen, code } = await caller();
  const vault = await makeVault(w.live, { name: 'any' });
  const [issued] = await tokenize(w.live, vault, [{ value: '4242 "x" {{ token: y }}' }]);
  const token = issued?.token;
  const encrypted = { 'x-svc-encrypted': Buffer.from('{"card":{"cvc":"123","months":[1,2.50],"n":1e400}}').toString('base64url') };
  const body = `{"amount": 5000.00, "source":"{{ token: ${token} }}", "cvc":"{{ encrypted | json: $.card.cvc }}","inst":"{{ encrypted | json: $.card.months }}","n":"{{encrypted|json:$.card.n}}", "{{ token: key }}": "{{ other }}", "mixed":"a {{ token: \\"${token}\\" }} b"}`;
  const { got } = await seen(`https://${HOST}/pay?q={{ token: ${token} }}&r=%7B%7Bencrypted|json:$.card.cvc%7D%7D`, {
    method: 'POST',
    body,
    headers: { ...JSON_TYPE, ...encrypted },
  });
  const value = JSON.stringify('4242 "x" {{ token: y }}');
  assert.equal(
    got.body,
    `{"amount": 5000.00, "source":${value}, "cvc":"123","inst":[1,2.50],"n":1e400, "{{ token: key }}": "{{ other }}", "mixed":${JSON.stringify('a 4242 "x" {{ token: y }} b')}}`,
  );
  assert.equal(got.url, `/pay?q=${encodeURIComponent('4242 "x" {{ token: y }}')}&r=123`);
  const entries = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, action: 'vault.detokenize' } });
  assert.equal(entries.length, 1, 'a token that stands twice is opened once');
  assert.equal((entries[0]!.details as { upstream_host: string }).upstream_host, HOST);

  const post = (text: string, headers: Headers = JSON_TYPE) => code(`https://${HOST}/pay`, { method: 'POST', body: text, headers });
  assert.equal(await post('{"a":"{{ token: tok_unknown }}"}'), '404 token_not_found');
  assert.equal(await post(`{"a":"{{ token: ${token} }}","b":"{{ token: tok_unknown }}"}`), '404 token_not_found');
  assert.equal(await db().audit_logs.count({ where: { tenant_id: w.tenant.id, action: 'vault.detokenize' } }), 1, 'all or nothing');
  assert.equal(await post('{"a":"{{ encrypted | json: $.x }}"}'), '400 template_unresolved');
  assert.equal(await post('{"a":"{{ encrypted | json: $.nope }}"}', { ...JSON_TYPE, ...encrypted }), '400 template_unresolved');
  assert.equal(await post('{"a":"x{{ encrypted | json: $.card }}"}', { ...JSON_TYPE, ...encrypted }), '400 validation_error');
  assert.equal(await post('{"a":"{{ token }}"}'), '400 validation_error');
  assert.equal(await post('{"a":'), '400 validation_error');
  assert.equal(await post(`{"a":"${'{{ token: t }}'.repeat(101)}"}`), '400 validation_error');
  assert.equal(await post('{}', { ...JSON_TYPE, 'x-svc-encrypted': '!!' }), '400 validation_error');

  const transparent = { ...JSON_TYPE, 'x-svc-proxy-mode': 'transparent' };
  assert.equal(
    (await seen(`https://${HOST}/t`, { method: 'POST', body: '{"a":"{{ token: x }}"', headers: transparent })).got.body,
    '{"a":"{{ token: x }}"',
  );
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const sent = (await seen(`https://${HOST}/f`, { method: 'POST', body: `a=%7B%7B+token%3A+${token}+%7D%7D&b=%zz&c={{x}}`, headers: form }))
    .got.body;
  assert.equal(sent, 'a=4242+%22x%22+%7B%7B+token%3A+y+%7D%7D&b=%zz&c={{x}}');
});

test('vault values are opened for callers that may, and leave for hosts of the vault', async () => {
  const { w, call, code } = await caller();
  const vault = await makeVault(w.live, { name: 'pinned', allowed_hosts: [OTHER] });
  const token = (await tokenize(w.live, vault, [{ value: 'v' }]))[0]?.token;
  const ask = { method: 'POST', body: `{"a":"{{ token: ${token} }}"}`, headers: JSON_TYPE };
  assert.equal(await code(`https://${HOST}/`, ask), '403 host_not_allowed');
  assert.equal((await call(`https://${OTHER}/`, ask)).status, 200);
  const { text: editor } = await w.key('live', 'Key - Editor');
  await served(running, w);
  assert.equal(await code(`https://${OTHER}/`, { ...ask, key: editor }), '403 forbidden');
});

test('a named secret goes in headers and bodies, only where it is pinned to', async () => {
  const { w, seen, code } = await caller();
  await makeSecret(w, 'PINNED', { production: 'pinned-value' }, { allowed_hosts: [HOST] });
  await makeSecret(w, 'LOOSE', { production: 'loose' });
  await served(running, w);
  const { got } = await seen(`https://${HOST}/`, {
    method: 'POST',
    body: '{"k":"{{ secret: PINNED }}"}',
    headers: { ...JSON_TYPE, 'x-auth': 'Token {{ secret: PINNED }}' },
  });
  assert.deepEqual([got.body, got.headers['x-auth']], ['{"k":"pinned-value"}', 'Token pinned-value']);
  const with_ = (name: string) => ({ headers: { 'x-auth': `{{ secret: ${name} }}` } });
  assert.equal(await code(`https://${HOST}/`, with_('LOOSE')), '403 secret_not_pinned');
  assert.equal(await code(`https://${OTHER}/`, with_('PINNED')), '403 secret_host_not_allowed');
  assert.equal(await code(`https://${HOST}/`, with_('MISSING')), '424 secret_not_found');
  assert.equal(await code(`https://${HOST}/?a={{ secret: PINNED }}`), '400 validation_error');
});

test('refuses URLs, control headers and credentials in the order of the checks', async () => {
  const { code, w } = await caller();
  const url = `https://${HOST}/`;
  const h = (headers: Headers) => code(url, { headers });
  for (const bad of [
    'http://a.example/',
    'https://127.1/',
    'https://2130706433/',
    'https://[::ffff:7f00:1]/',
    'https://0x7f.1/',
    'https://a.example:22/',
    'https://good.example@evil.example/',
    'x',
  ])
    assert.equal(await code(bad), '400 validation_error', bad);
  assert.equal(await h({ 'x-svc-timeout-ms': '30001' }), '400 validation_error');
  assert.equal(await h({ 'x-svc-timeout-ms': '0' }), '400 validation_error');
  assert.equal(await h({ 'x-svc-proxy-mode': 'other' }), '400 validation_error');
  assert.equal(await code('https://metadata.google.internal/'), '403 upstream_not_allowed');
  for (const path of ['/v1/tokens', '/v1/x/../sources', '/v1/%74okens'])
    assert.equal(
      await code(`https://API.stripe.com.${path}`, { headers: { 'x-svc-proxy-mode': 'transparent' } }),
      '403 raw_card_endpoint_refused',
    );
  await db().tenants.update({ where: { id: w.tenant.id }, data: { settings: { egress_allowlist: [OTHER] } } });
  await served(running, w);
  assert.equal(await code(url), '403 egress_denied');
});

test('only good credentials with proxy:invoke get in, and each other answer is the same', async () => {
  const { w, key } = await caller();
  const ask = (authorization: string | undefined, port = running.api) =>
    callApi(port, '/v1/proxy', { headers: { 'x-svc-proxy-url': `https://${HOST}/`, ...(authorization && { authorization }) } });
  const told = async (answer: ReturnType<typeof ask>) => {
    const { status, headers, body } = await answer;
    assert.deepEqual(
      [headers['x-svc-upstream-status'], headers['x-svc-destination-status']],
      [undefined, undefined],
      'no stamp of an upstream',
    );
    return `${status} ${headers['x-svc-error']} ${headers['x-svc-plane']} ${JSON.parse(body).error.type}`;
  };
  assert.equal(await told(ask(undefined)), '401 authentication_required proxy authentication_required');
  assert.equal(await told(ask(`Bearer ${key.slice(0, -1)}${key.endsWith('x') ? 'y' : 'x'}`)), '401 invalid_api_key proxy invalid_api_key');
  assert.equal(await told(ask(`Bearer ${key}`, running.sandbox)), '403 wrong_key_type proxy wrong_key_type');
  const { text: reader } = await w.key('live', 'Key - Read-only');
  await served(running, w);
  assert.equal(await told(ask(`Bearer ${reader}`)), '403 forbidden proxy forbidden');
  const { text: token } = await w.token();
  assert.equal((await ask(`Bearer ${token}`)).status, 200);
});

test('an answer of the provider carries both stamps, a redirect is not followed, and a hung upstream ends the call in time', async () => {
  const { seen } = await caller();
  const refused = (await seen(`https://${HOST}/401`)).answer;
  assert.deepEqual(
    [
      refused.status,
      refused.headers['x-svc-upstream-status'],
      refused.headers['x-svc-destination-status'],
      refused.headers['x-svc-origin'],
      refused.headers['x-svc-error'],
    ],
    [401, '401', '401', 'upstream', undefined],
  );
  const redirect = (await seen(`https://${HOST}/redirect`)).answer;
  assert.deepEqual([redirect.status, redirect.headers.location], [302, 'http://169.254.169.254/latest']);
  const { call } = await caller();
  const before = upstream.seen.length;
  const order: string[] = [];
  const [hung] = await Promise.all(
    ['500', '2500', '1500'].map(async (time) => {
      const answer = await call(`https://${HOST}/hang`, { headers: { 'x-svc-timeout-ms': time } });
      order.push(time);
      return answer;
    }),
  );
  assert.deepEqual(
    [hung?.status, hung?.headers['x-svc-error'], hung?.headers['x-svc-upstream-status']],
    [504, 'upstream_timeout', undefined],
  );
  assert.equal(upstream.seen.length, before + 3, 'each asked once');
  assert.deepEqual(order, ['500', '1500', '2500'], 'each ends at its time');
});
