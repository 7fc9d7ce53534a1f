import assert from 'node:assert/strict';
import test from 'node:test';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { refreshServer } from '#server/domain/mcp-servers/probing.ts';
import { createServer, updateServer } from '#server/domain/mcp-servers/service.ts';
import { auditActor } from '#server/kernel/context.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ask, served, startGateway } from '../gateway.fixture.ts';
import { startWeb } from '../v1/web.fixture.ts';
import { client, makeMcp, makeToken, textOf } from './mcp.fixture.ts';
import { type Seen, startLegacyUpstream, startModernUpstream } from './upstreams.fixture.ts';

// The statement of whom a request is made for, as an upstream checks it: with the published keys and somebody else's verifier (interface rule 52 §10).

const API = 'https://api.sallyport.example';
const JWKS = '/.well-known/svc-identity-jwks.json';
await testDatabase({ SVC_GATEWAYS: '1', PUBLIC_API_URL: API, PUBLIC_ADMIN_URL: 'https://admin.sallyport.example' });
await startWeb();
const running = await startGateway();
const { port } = await running.gateway.listen('api', 0, '127.0.0.1');
const published = async () => {
  const answer = await ask(port, 'api', JWKS, { headers: { host: new URL(API).host } });
  assert.deepEqual([answer.status, answer.headers['cache-control']], [200, 'public, max-age=3600']);
  return JSON.parse(answer.body) as JSONWebKeySet;
};

const sent = ({ headers }: Seen) => headers['x-svc-identity'] as string | undefined;
async function verified(seen: Seen, url: string) {
  const options = {
    issuer: API,
    audience: new URL(url).origin,
    algorithms: ['ES256'],
    requiredClaims: ['sub', 'tenant', 'server', 'jti', 'exp'],
  };
  const { payload } = await jwtVerify(sent(seen) ?? '', createLocalJWKSet(await published()), options);
  return payload;
}

for (const [era, start] of [
  ['legacy', startLegacyUpstream],
  ['modern', startModernUpstream],
] as const)
  test(`each request to a ${era} upstream is signed for it, once, with its caller and tool`, async () => {
    const [w, upstream] = [await workspace(), await start()];
    const {
      server,
      gateway,
      token,
      client: c,
    } = await makeMcp(running, w, upstream.url, { allowed_tools: ['echo'], signed_identity: true });
    await c.begin();
    const forged = await c.request('tools/call', { name: 'echo', arguments: { text: 'hi' } }, { 'X-Svc-Identity': 'forged' });
    assert.equal(textOf(forged), 'You said: hi');
    const payloads = await Promise.all(upstream.seen.map((seen) => verified(seen, upstream.url)));
    assert.ok(payloads.length >= 2);
    for (const { sub, tenant, server: of, iat = 0, exp = 0 } of payloads)
      assert.deepEqual([sub, tenant, of, exp - iat], [`token:${token.id}`, w.tenant.id, server.id, 300]);
    assert.equal(new Set(payloads.map(({ jti }) => jti)).size, payloads.length);
    assert.deepEqual(
      payloads.map(({ tool }) => tool),
      // The stream of the session is opened for the call.
      upstream.seen.map(({ method, body }) => (body?.method === 'tools/call' || method === 'GET' ? 'echo' : undefined)),
    );
    const alice = await makeToken(w, gateway, { scope: { user: 'alice' } });
    await served(running, w);
    const other = client(running, w.tenant.slug, `/v1/mcp/${server.slug}`, alice.text);
    await other.begin();
    assert.equal(textOf(await other.call('echo', { text: 'again' })), 'You said: again');
    assert.equal((await verified(upstream.calls('tools/call').at(-1) as Seen, upstream.url)).sub, 'attributed_user:alice');
    const lists = await Promise.all(upstream.calls('tools/list').map((seen) => verified(seen, upstream.url)));
    assert.deepEqual(
      lists.map(({ sub }) => sub),
      [`token:${token.id}`, 'attributed_user:alice'],
      'the upstream may show each of them other tools',
    );
  });

test('a statement is for one upstream and one installation', async () => {
  const [w, upstream] = [await workspace(), await startLegacyUpstream()];
  const { client: c } = await makeMcp(running, w, upstream.url, { allowed_tools: ['echo'], signed_identity: true });
  await c.begin();
  const [first] = upstream.seen as [Seen];
  await assert.rejects(verified(first, 'https://other.example'), { code: 'ERR_JWT_CLAIM_VALIDATION_FAILED' });
  const [head, claims, signature] = (sent(first) ?? '').split('.') as [string, string, string];
  const changed = Buffer.from(JSON.stringify({ ...JSON.parse(Buffer.from(claims, 'base64url').toString()), sub: 'user:someone' }));
  const forged = { ...first, headers: { 'x-svc-identity': `${head}.${changed.toString('base64url')}.${signature}` } };
  await assert.rejects(verified(forged, upstream.url), { code: 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED' });
  const { keys } = await published();
  assert.deepEqual(Object.keys(keys[0] ?? {}).sort(), ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
});

test('without the setting nothing is said, whatever the caller sends', async () => {
  const [w, upstream] = [await workspace(), await startLegacyUpstream()];
  const { server, client: c } = await makeMcp(running, w, upstream.url, { allowed_tools: ['echo'] });
  await c.begin();
  const call = () => c.request('tools/call', { name: 'echo', arguments: { text: 'hi' } }, { 'x-svc-identity': 'forged' });
  assert.equal(textOf(await call()), 'You said: hi');
  assert.deepEqual([...new Set(upstream.seen.map(sent))], [undefined]);
  // Turned on, the next request has it, and off again the next one hasn't.
  const change = async (signed_identity: boolean) => {
    await db().mcp_servers.update({ where: { id: server.id }, data: { signed_identity } });
    await served(running, w);
    await call();
    return sent(upstream.calls('tools/call').at(-1) as Seen);
  };
  assert.match((await change(true)) ?? '', /^eyJ/);
  assert.equal(await change(false), undefined);
});

test('a probe is signed too, for whoever asks; only servers with an upstream have the setting', async () => {
  const [w, upstream] = [await workspace(), await startLegacyUpstream()];
  const { server, gateway } = await makeMcp(running, w, upstream.url, { signed_identity: true });
  const { protocol } = await refreshServer(w.live, { id: server.id, pin: false });
  assert.equal(protocol.error, undefined);
  const payloads = await Promise.all(upstream.seen.map((seen) => verified(seen, upstream.url)));
  assert.deepEqual([...new Set(payloads.map(({ sub }) => sub))], [`api_key:${auditActor(w.live.actor).id}`]);
  const collection = { id: gateway.id, name: 'Routes', slug: 'routes', server_type: 'collection' as const };
  const refused = { type: 'validation_error', message: /^signed_identity/ };
  await assert.rejects(createServer(w.live, { ...collection, signed_identity: true }), refused);
  const { id } = await createServer(w.live, collection);
  await assert.rejects(updateServer(w.live, { id, signed_identity: true }), refused);
});
