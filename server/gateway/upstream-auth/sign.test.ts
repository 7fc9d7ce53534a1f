import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import test from 'node:test';
import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';
import fc from 'fast-check';
import { decodeJwt, jwtVerify } from 'jose';
import { findKey } from '#server/custody/keys.ts';
import { material } from '#server/custody/material.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { destroyVersion, storedKey } from '#server/testing/stored-keys.ts';
import { workspace } from '#server/testing/workspace.ts';
import { type Ask, ask, makeRoute, makeSecret, putValue, type Seen, served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { idOf, keptOf } from '../route/payloads/payloads.fixture.ts';

await testDatabase();
const running = await startGateway();
const upstream = await startUpstream();

const AWS = {
  access_key_id: 'AKIAEXAMPLECANARY01',
  secret_access_key: 'wJalrXUtnFEMI/K7MDENG+canary-secret-key',
  session_token: 'canary-session-token//==',
};

async function signing(auth: Record<string, unknown>, value: string, config: Record<string, unknown> = {}) {
  const w = await workspace();
  const secret = await makeSecret(w, 'UPSTREAM', { production: value });
  const route = await makeRoute(w, 'r', upstream.url, { upstream_auth: { ...auth, secret_id: secret.id }, ...config } as never);
  const { text: key } = await w.key();
  await served(running, w);
  const call = async (path: string, how: Ask = {}): Promise<Seen> => {
    const answer = await ask(running.port, w.tenant.slug, path, { key, ...how });
    assert.equal(answer.status, 200, answer.body);
    return upstream.seen.at(-1) as Seen;
  };
  const refusal = async (how: Ask = {}) => {
    const before = upstream.seen.length;
    const { status, headers, body } = await ask(running.port, w.tenant.slug, '/r/x', { key, ...how });
    assert.equal(upstream.seen.length, before, 'nothing was sent');
    return { status, code: headers['x-svc-error'], body };
  };
  return { w, secret, route, key, call, refusal };
}

/** What @smithy/signature-v4 signs of the request that the upstream got, with the same key, time and headers. */
async function judged(seen: Seen, service: string, body: string | undefined): Promise<string> {
  const { authorization, ...headers } = seen.headers as Record<string, string>;
  assert.match(authorization ?? '', /^AWS4-HMAC-SHA256 Credential=AKIAEXAMPLECANARY01\//);
  const signedNames = /SignedHeaders=([^,]+)/.exec(authorization ?? '')?.[1]?.split(';') ?? [];
  const signer = new SignatureV4({
    credentials: { accessKeyId: AWS.access_key_id, secretAccessKey: AWS.secret_access_key, sessionToken: AWS.session_token },
    region: 'eu-central-1',
    service,
    sha256: Sha256,
    uriEscapePath: service !== 's3',
    applyChecksum: service === 's3',
  });
  const at = (headers['x-amz-date'] ?? '').replace(/(\d{4})(\d\d)(\d\dT\d\d)(\d\d)/, '$1-$2-$3:$4:');
  const url = new URL(seen.url, 'http://upstream');
  const query: Record<string, string[]> = {};
  for (const [name, text] of url.searchParams) query[name] = [...(query[name] ?? []), text];
  const signed = await signer.sign(
    {
      method: seen.method,
      protocol: 'http:',
      hostname: 'upstream',
      path: seen.url.split('?')[0] ?? '/',
      query,
      headers: Object.fromEntries(
        signedNames.filter((name) => name !== 'x-amz-date' && name !== 'x-amz-security-token').map((name) => [name, headers[name] ?? '']),
      ),
      body,
    },
    { signingDate: new Date(at), signableHeaders: new Set(signedNames) },
  );
  assert.equal(signed.headers.authorization?.match(/SignedHeaders=[^,]+/)?.[0], authorization?.match(/SignedHeaders=[^,]+/)?.[0]);
  return signed.headers.authorization ?? '';
}

test('what the upstream gets is signed as @smithy/signature-v4 signs it, for any path, query, headers and body', async () => {
  const { call } = await signing({ type: 'aws_sigv4', region: 'eu-central-1', service: 'execute-api' }, JSON.stringify(AWS), {
    inject_headers_json: { 'X-Amz-Target': 'DynamoDB_20120810.Query', 'X-Other': 'x' },
    inject_query_json: { via: 'gw & co' },
  });
  const word = fc.string({ unit: fc.constantFrom(...'abcXYZ019-_.~!*\'()@:$&=+,;é ü"<>|%'), minLength: 1, maxLength: 8 });
  const path = fc.array(
    word.filter((text) => !/^\.+$/.test(text)),
    { maxLength: 4 },
  );
  const query = fc.array(fc.tuple(word, word), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(
      path,
      query,
      fc.constantFrom('GET', 'POST', 'PUT', 'DELETE'),
      fc.option(fc.string({ maxLength: 200 }), { nil: '' }),
      async (parts, pairs, method, body) => {
        const target = `/r/${parts.map(encodeURIComponent).join('/')}?${pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&')}`;
        const seen = await call(target, {
          method,
          ...(method === 'GET' ? {} : { body }),
          headers: { 'content-type': 'application/octet-stream' },
        });
        assert.equal(await judged(seen, 'execute-api', method === 'GET' ? '' : body), seen.headers.authorization);
      },
    ),
    { numRuns: 60, seed: 16 },
  );
});

test('the caller has no say in it: Authorization and X-Amz-* of its own are dropped, those of the route are signed', async () => {
  const { call } = await signing({ type: 'aws_sigv4', region: 'eu-central-1', service: 'dynamodb' }, JSON.stringify(AWS), {
    inject_headers_json: { 'X-Amz-Target': 'DynamoDB_20120810.GetItem', 'X-Amz-Date': '20000101T000000Z' },
  });
  const seen = await call('/r/', {
    method: 'POST',
    body: '{"a":1}',
    headers: {
      authorization: 'AWS4-HMAC-SHA256 Credential=mine',
      'x-amz-date': '20200101T000000Z',
      'x-amz-security-token': 'mine',
      'X-Amz-Meta-Role': 'admin',
      x_amz_meta_b: 'c',
      'content-type': 'application/x-amz-json-1.0',
    },
  });
  assert.ok(!JSON.stringify(seen.rawHeaders).includes('mine'));
  assert.deepEqual(
    Object.keys(seen.headers)
      .filter((name) => /^x[-_]amz/.test(name))
      .sort(),
    ['x-amz-date', 'x-amz-security-token', 'x-amz-target'],
  );
  assert.equal(seen.rawHeaders.filter((name) => name.toLowerCase() === 'x-amz-date').length, 1);
  assert.equal(await judged(seen, 'dynamodb', '{"a":1}'), seen.headers.authorization);
});

test('the body that is signed is the one that is sent: after placeholders and injection', async () => {
  const { call, w } = await signing({ type: 'aws_sigv4', region: 'eu-central-1', service: 'lambda' }, JSON.stringify(AWS), {
    inject_body_json: { via: 'gw' },
  });
  await makeSecret(w, 'PLACED', { production: 'the-value' });
  await served(running, w);
  const seen = await call('/r/', {
    method: 'POST',
    body: '{"token":"{{secret:PLACED}}"}',
    headers: { 'content-type': 'application/json' },
  });
  assert.equal(seen.body, '{"token":"the-value","via":"gw"}');
  assert.equal(await judged(seen, 'lambda', seen.body), seen.headers.authorization);
});

test('S3 paths are signed as they are; long bodies stream unsigned to S3 and are refused by others', async () => {
  const s3 = await signing({ type: 'aws_sigv4', region: 'eu-central-1', service: 's3' }, JSON.stringify(AWS));
  const seen = await s3.call('/r/bucket/a%20b//c/%C3%BC?list-type=2&prefix=a%2Fb', {});
  assert.equal(await judged(seen, 's3', ''), seen.headers.authorization);
  const long = 'x'.repeat(11 * 1024 * 1024);
  const put = await s3.call('/r/bucket/key', { method: 'PUT', body: long });
  assert.equal(put.headers['x-amz-content-sha256'], 'UNSIGNED-PAYLOAD');
  assert.equal(put.body.length, long.length);
  const sqs = await signing({ type: 'aws_sigv4', region: 'eu-central-1', service: 'sqs' }, JSON.stringify(AWS));
  assert.equal((await sqs.refusal({ method: 'POST', body: long })).code, 'payload_too_large');
});

test('material that is no AWS credential is told, without any of it', async () => {
  for (const value of [
    'canary-no-json',
    '{}',
    '{"access_key_id":"canary"}',
    '[1]',
    JSON.stringify({ ...AWS, access_key_id: 'canary\r\nX: y' }),
    JSON.stringify({ ...AWS, session_token: 'canary token' }),
  ]) {
    const { refusal } = await signing({ type: 'aws_sigv4', region: 'eu-central-1', service: 'sqs' }, value);
    const { status, code, body } = await refusal();
    assert.deepEqual([status, code], [424, 'route_misconfigured'], value);
    assert.ok(body.includes('UPSTREAM') && !body.includes('canary'), body);
  }
});

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const JWT = {
  type: 'jwt_bearer',
  algorithm: 'EdDSA',
  issuer: 'us',
  subject: 'gateway',
  audience: 'https://partner.example',
  ttl_seconds: 300,
  extra_claims: {},
  header_name: 'Authorization',
  value_prefix: 'Bearer ',
};

test('a JWT is minted for the upstream, kept until it would expire, and follows its settings and its secret', async () => {
  const { call, secret, w, route } = await signing({ ...JWT, extra_claims: { scope: ['a', 'b'], n: 1 } }, PEM);
  const token = async () =>
    /^Bearer (\S+)$/.exec(String((await call('/r/x', { headers: { authorization: 'Bearer mine' } })).headers.authorization))?.[1] ?? '';
  const first = await token();
  const { payload, protectedHeader } = await jwtVerify(first, publicKey, {
    issuer: 'us',
    subject: 'gateway',
    audience: 'https://partner.example',
  });
  assert.deepEqual(protectedHeader, { alg: 'EdDSA', typ: 'JWT' });
  assert.deepEqual([payload.scope, payload.n, (payload.exp ?? 0) - (payload.iat ?? 0)], [['a', 'b'], 1, 300]);
  assert.match(String(payload.jti), /^[0-9a-f-]{36}$/);
  assert.equal(await token(), first);
  // New material is used at once.
  const next = generateKeyPairSync('ed25519');
  const entry = await db().secret_environments.findFirstOrThrow({ where: { secret_id: secret.id } });
  await putValue(w, entry.id, next.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), 2);
  await served(running, w);
  const second = await token();
  await jwtVerify(second, next.publicKey);
  // A token that lives no longer than the margin is never kept.
  const auth = { ...JWT, secret_id: secret.id, ttl_seconds: 30, header_name: 'X-Partner-Assertion', value_prefix: '' };
  await db().route_environment_configs.updateMany({ where: { route_id: route.id }, data: { upstream_auth: auth } });
  await served(running, w);
  const seen = [await call('/r/x', { headers: { authorization: 'Bearer mine' } }), await call('/r/x')];
  const ids = seen.map(({ headers }) => decodeJwt(String(headers['x-partner-assertion'])).jti);
  assert.notEqual(ids[0], ids[1]);
  assert.equal(seen[0]?.headers.authorization, 'Bearer mine', 'the upstream may want another one from the caller');
});

test('a secret that is gone, expired, missing in the environment or pinned to other hosts signs nothing', async () => {
  const { refusal, secret, w, call } = await signing(JWT, PEM);
  await call('/r/x');
  const cases: [object, string][] = [
    [{ allowed_hosts: ['api.partner.example'] }, 'secret_host_not_allowed'],
    [{ expires_at: new Date(Date.now() - 1000), strict_expiry_enforcement: true }, 'secret_expired'],
    [{ secret_type: 'certificate' }, 'secret_type_not_injectable'],
  ];
  for (const [data, code] of cases) {
    await db().secrets.update({ where: { id: secret.id }, data: data as never });
    await served(running, w);
    assert.equal((await refusal()).code, code);
    await db()
      .$executeRaw`update secrets set allowed_hosts = null, expires_at = null, secret_type = 'string' where id = ${secret.id}::uuid`;
  }
  await db().secret_environments.updateMany({ where: { secret_id: secret.id }, data: { environment_name: 'staging' } });
  await served(running, w);
  assert.equal((await refusal()).code, 'secret_environment_missing');
  const wrong = await signing({ ...JWT, algorithm: 'RS256' }, PEM);
  const told = await wrong.refusal();
  assert.deepEqual([told.status, told.code], [424, 'route_misconfigured']);
  assert.ok(!told.body.includes(PEM.slice(30, 60)) && told.body.includes('is not a key for RS256'), told.body);
});

test('nothing of the material or of what it signs is in answers, logs or kept payloads', async () => {
  const echoing = await startUpstream((req, res) =>
    res.writeHead(500, { 'content-type': 'text/plain' }).end(`${req.headers['x-assertion']} ${req.headers.authorization}`),
  );
  const canaries: string[] = [];
  for (const [auth, value] of [
    [{ ...JWT, header_name: 'X-Assertion', value_prefix: '' }, PEM],
    [{ type: 'aws_sigv4', region: 'eu-central-1', service: 'sqs' }, JSON.stringify(AWS)],
  ] as const) {
    const { w, key, route } = await signing(auth, value, { log_payloads: 'all' });
    await db().route_environment_configs.updateMany({ where: { route_id: route.id }, data: { target_base_url: echoing.url } });
    await served(running, w);
    const answer = await ask(running.port, w.tenant.slug, '/r/x', { key });
    const seen = echoing.seen.at(-1);
    assert.equal(answer.status, 500);
    canaries.push(String(seen?.headers['x-assertion'] ?? seen?.headers.authorization).slice(-40), value.slice(40, 80));
    const { log, request, response } = await keptOf(running, idOf(answer));
    const text = JSON.stringify([log, request, response], (_, one: unknown) => (typeof one === 'bigint' ? String(one) : one));
    assert.match(text, /\[redacted:secret:UPSTREAM\.(?:token|signature)\]/);
    for (const canary of canaries) assert.ok(!text.includes(canary), canary);
    assert.deepEqual(log.secrets_used, ['UPSTREAM']);
  }
});

test('a crypto key signs instead of a secret: with its kid, audited, and not after its version was destroyed', async () => {
  const w = await workspace();
  const stored = await storedKey(w.live, { name: 'Partner key', key_type: 'ecdsa-p256' });
  const { key_name, secret_id: _, ...auth } = { ...JWT, algorithm: 'ES256', key_name: 'Partner key', secret_id: '' };
  const route = await makeRoute(w, 'r', upstream.url, { upstream_auth: { ...auth, key_name } });
  const { text: key } = await w.key();
  await served(running, w);
  const call = () => ask(running.port, w.tenant.slug, '/r/x', { key });
  const sent = () => String(upstream.seen.at(-1)?.headers.authorization).slice('Bearer '.length);
  assert.equal((await call()).status, 200);
  const first = sent();
  const found = await findKey(w.live, 'Partner key');
  assert.ok(found);
  const { publicKey: shown } = await material(found, 1);
  const { payload, protectedHeader } = await jwtVerify(first, shown, { issuer: 'us', audience: 'https://partner.example' });
  assert.deepEqual([protectedHeader.alg, typeof protectedHeader.kid], ['ES256', 'string']);
  await call();
  assert.equal(sent(), first, 'kept');
  await running.flush();
  const [entry, ...others] = await db().audit_logs.findMany({
    where: { tenant_id: w.tenant.id, resource_type: 'crypto_key', action: 'execute' },
  });
  const details = entry?.details as Record<string, unknown>;
  assert.deepEqual([details.operation, details.jti, details.route_id, others.length], ['jwt_sign', payload.jti, route.id, 0]);
  await destroyVersion(stored.versions[0] ?? '');
  const before = upstream.seen.length;
  const refused = await call();
  assert.deepEqual([refused.status, refused.headers['x-svc-error']], [424, 'route_misconfigured']);
  for (const [name, algorithm] of [
    ['unknown', 'ES256'],
    ['Partner key', 'RS256'],
  ]) {
    const other = { ...auth, key_name: name, algorithm } as never;
    await db().route_environment_configs.updateMany({ where: { route_id: route.id }, data: { upstream_auth: other } });
    await served(running, w);
    assert.equal((await call()).headers['x-svc-error'], 'route_misconfigured');
  }
  assert.equal(upstream.seen.length, before);
});
