import { expect, test } from '@playwright/test';
import { createRemoteJWKSet, errors, jwtVerify } from 'jose';
import { createWorkspace, json, operator, setting, unique } from './running-system.ts';

/**
 * C1: a key made by the API signs a JWT that jose verifies from the public key set over HTTP. After a rotation the old token still verifies; once the
 * minimum version is raised it is refused, by jose and by us. The dashboard plane answers the same rows to a person.
 */
const slug = unique('signers');
const owner = { email: `owner@${slug}.example`, password: 'seven bells in the tower' };

test('C1: sign a JWT by API, verify it from the JWKS URL, rotate, raise the minimum version', async () => {
  await createWorkspace(slug, owner, 'enterprise');
  const { api_key: key = '' } = await operator(['create-key', '--slug', slug, '--space', 'live', '--role', 'Key - Editor', '--name', 'c1']);
  const call = async (method: string, path: string, body?: object) => {
    const answer = await json(`${setting('E2E_API_URL')}/v1/crypto/keys${path}`, { method, key, ...(body ? { body } : {}) });
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.body.data;
  };

  const created = await call('POST', '', { name: 'id tokens', key_type: 'ed25519' });
  const at = '/id%20tokens';
  const claims = { iss: 'https://orders.example.com', sub: 'user_1' };
  const jwt = async () => (await call('POST', `${at}/jwt`, { claims, ttl_seconds: 600 })).token as string;
  const first = await jwt();

  const hidden = await fetch(`${setting('E2E_API_URL')}/pub/${slug}/jwks/${created.id}.json`);
  expect([hidden.status, await hidden.text()], 'not before it is published').toEqual([404, '']);
  await call('PATCH', at, { jwks_public: true });
  const { jwks_url } = await call('GET', at);
  const url = new URL(new URL(jwks_url).pathname, setting('E2E_API_URL'));
  const published = await fetch(url);
  expect([
    published.headers.get('content-type'),
    published.headers.get('cache-control'),
    published.headers.get('access-control-allow-origin'),
  ]).toEqual(['application/jwk-set+json', 'public, max-age=300', '*']);
  const etag = published.headers.get('etag') as string;
  expect((await fetch(url, { headers: { 'if-none-match': etag } })).status).toBe(304);

  const verify = (token: string) => jwtVerify(token, createRemoteJWKSet(url), { issuer: claims.iss });
  const verified = await verify(first);
  expect([verified.payload.sub, verified.protectedHeader.kid, verified.protectedHeader.alg]).toEqual([
    'user_1',
    `${created.id}.v1`,
    'EdDSA',
  ]);

  expect(await call('POST', `${at}/rotate`, {})).toEqual({ new_version: 2 });
  expect((await (await fetch(url)).json()).keys.map((one: { kid: string }) => one.kid)).toEqual([`${created.id}.v2`, `${created.id}.v1`]);
  expect((await verify(first)).payload.sub, 'the old token still verifies').toBe('user_1');
  const soon = await verify(await jwt());
  expect(soon.protectedHeader.kid, 'verifiers may hold the old set for 5 minutes').toBe(`${created.id}.v1`);

  await call('PATCH', at, { min_decryption_version: 2 });
  await expect(verify(first), 'refused by jose').rejects.toBeInstanceOf(errors.JWKSNoMatchingKey);
  expect((await call('POST', `${at}/jwt/verify`, { token: first })).valid, 'refused by us').toBe(false);
  const second = await jwt();
  expect((await verify(second)).protectedHeader.kid, 'never signed with a version that verifies nothing').toBe(`${created.id}.v2`);
  const [head, , signature] = second.split('.');
  const forged = `${head}.${Buffer.from(JSON.stringify({ ...claims, sub: 'admin' })).toString('base64url')}.${signature}`;
  await expect(verify(forged)).rejects.toBeInstanceOf(errors.JWSSignatureVerificationFailed);

  const asOwner = async (path: string, init: { method?: string; body?: object } = {}) => {
    const { token } = (await json(`${setting('E2E_ADMIN_URL')}/auth/login`, { body: owner })).body;
    return json(`${setting('E2E_ADMIN_URL')}/admin/crypto/keys${path}`, {
      key: token,
      ...init,
      headers: { 'x-tenant-id': slug, 'x-svc-space': 'live' },
    });
  };
  const shown = await asOwner(at);
  expect([shown.status, shown.body.id, shown.body.current_version], shown.text).toEqual([200, created.id, 2]);
  const latch = await asOwner(at, { method: 'PATCH', body: { deletion_allowed: true } });
  expect([latch.status, latch.body.error], 'an Owner without a second factor').toEqual([403, 'mfa_required']);
});
