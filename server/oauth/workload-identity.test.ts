import assert from 'node:assert/strict';
import test from 'node:test';
import { ask, startGateway } from '#server/gateway/gateway.fixture.ts';
import { startWeb } from '#server/gateway/v1/web.fixture.ts';
import { db } from '#server/platform/db.ts';
import { ISSUER_PATH, workloadToken } from '#server/platform/workload-identity.ts';
import { testDatabase } from '#server/testing/database.ts';

// What clouds and vaults read of our issuer (OpenID Connect Discovery 1.0 §4), over sockets.

const API = 'https://api.sallyport.example';
await testDatabase({ SVC_GATEWAYS: '1', PUBLIC_API_URL: API, PUBLIC_ADMIN_URL: 'https://admin.sallyport.example' });
await startWeb();
const { gateway } = await startGateway();
const { port } = await gateway.listen('api', 0, '127.0.0.1');
const sandbox = await gateway.listen('sandbox', 0, '127.0.0.1');
const host = new URL(API).host;
const get = (path: string) => ask(port, 'api', path, { headers: { host } });
const published = async () => JSON.parse((await get(`${ISSUER_PATH}/jwks.json`)).body) as { keys: Record<string, string>[] };

test('the issuer is the address its configuration is read from, and its keys are public halves only', async () => {
  const found = await get(`${ISSUER_PATH}/.well-known/openid-configuration`);
  const { issuer, jwks_uri } = found.json();
  assert.deepEqual([found.status, issuer, jwks_uri], [200, `${API}${ISSUER_PATH}`, `${API}${ISSUER_PATH}/jwks.json`]);
  const { keys } = await published();
  assert.equal(keys.length, 1);
  assert.deepEqual(Object.keys(keys[0] ?? {}).sort(), ['alg', 'e', 'kid', 'kty', 'n', 'use']);
  assert.equal((await ask(sandbox.port, 'api', `${ISSUER_PATH}/jwks.json`, { headers: { host: '127.0.0.1' } })).status, 404);
  assert.equal((await ask(port, 'api', `${ISSUER_PATH}/jwks.json`, { method: 'POST', headers: { host } })).status, 405);
});

test('a token names one workspace, one space and one audience, and lives for minutes', async () => {
  const place = { tenant_id: crypto.randomUUID(), space: 'test' } as const;
  const [head = '', body = ''] = (await workloadToken(place, 'https://vault.example')).split('.');
  const { kid, alg } = JSON.parse(Buffer.from(head, 'base64url').toString());
  const { iss, sub, aud, iat, exp } = JSON.parse(Buffer.from(body, 'base64url').toString());
  const { keys } = await published();
  assert.deepEqual([kid, alg, iss, aud], [keys[0]?.kid, 'RS256', `${API}${ISSUER_PATH}`, 'https://vault.example']);
  assert.equal(sub, `workspace:${place.tenant_id}:test:migrations`);
  assert.equal(exp - iat, 300);
});

test('the private key is kept sealed', async () => {
  const row = await db().deployment_values.findUniqueOrThrow({ where: { name: 'workload_identity_key' } });
  assert.equal(
    Buffer.from(row.sealed ?? [])
      .subarray(0, 4)
      .toString(),
    'SVT1',
  );
  assert.ok(!/"(d|p|q)"/.test(JSON.stringify(row.value)));
});
