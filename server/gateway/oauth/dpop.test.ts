import assert from 'node:assert/strict';
import test from 'node:test';
import * as oauth from 'oauth4webapi';
import * as client from 'openid-client';
import { freePorts } from '#scripts/ports.ts';
import { proxyUrl } from '#server/domain/tenants/addresses.ts';
import { makeClient } from '#server/oauth/oauth.fixture.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { makeRoute, served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { startWeb } from '../v1/web.fixture.ts';

// DPoP with a nonce, as clients by other authors speak it: from the token endpoint to the Management API and to a route, over real sockets.

const [port, testPort, proxyPort] = (await freePorts(3)) as [number, number, number];
const ISSUER = new URL(`http://127.0.0.1:${port}`);
await testDatabase({
  PUBLIC_API_URL: ISSUER.origin,
  PUBLIC_SANDBOX_API_URL: `http://127.0.0.1:${testPort}`,
  PLANE_PORTS: `api:${port},sandbox:${testPort},proxy:${proxyPort}`,
});
await startWeb();
const running = await startGateway();
await running.gateway.listen('api', port, '127.0.0.1');
await running.gateway.listen('proxy', proxyPort, '127.0.0.1');
const upstream = await startUpstream();

const w = await workspace();
await db().tenants.update({ where: { id: w.tenant.id }, data: { settings: { dpop_nonce_required: true } } });
await makeRoute(w, 'orders', upstream.url);
await served(running, w);
const api = new URL('/v1/routes?per_page=1', ISSUER);
const route = new URL(`${proxyUrl(w.tenant.slug, 'live')}/orders/items?page=2`);
const http = { [oauth.allowInsecureRequests]: true } as const;

test('openid-client gets a bound token and calls the Management API and a route with it', async () => {
  const machine = await makeClient(w, { require_dpop: true, scopes: ['routes:read', 'proxy:invoke'] });
  const config = await client.discovery(ISSUER, machine.client_id, undefined, client.ClientSecretBasic(machine.secret), {
    algorithm: 'oauth2',
    execute: [client.allowInsecureRequests],
  });
  const DPoP = client.getDPoPHandle(config, await client.randomDPoPKeyPair('ES256'));
  const token = await client.clientCredentialsGrant(config, {}, { DPoP });
  assert.equal(token.token_type, 'dpop');
  for (const url of [api, route])
    for (const method of ['GET', 'GET', 'HEAD']) {
      const answer = await client.fetchProtectedResource(config, token.access_token, url, method, null, undefined, { DPoP });
      assert.equal(answer.status, 200, `${method} ${url}`);
    }
  assert.deepEqual([upstream.seen.at(-1)?.url, upstream.seen.at(-1)?.headers.dpop], ['/items?page=2', undefined]);
  const bare = await fetch(route, { headers: { authorization: `Bearer ${token.access_token}` } });
  assert.equal(bare.status, 401, 'stolen, it is worth nothing');
});

test('oauth4webapi learns the nonce from the refusal, at each of the three', async () => {
  const machine = await makeClient(w, { scopes: ['routes:read', 'proxy:invoke'] });
  const as = await oauth.processDiscoveryResponse(ISSUER, await oauth.discoveryRequest(ISSUER, { algorithm: 'oauth2', ...http }));
  assert.deepEqual(as.dpop_signing_alg_values_supported, ['ES256', 'EdDSA']);
  const it: oauth.Client = { client_id: machine.client_id };
  const key = await oauth.generateKeyPair('EdDSA');
  const mint = async (DPoP: oauth.DPoPHandle) =>
    oauth.processClientCredentialsResponse(
      as,
      it,
      await oauth.clientCredentialsGrantRequest(as, it, oauth.ClientSecretPost(machine.secret), {}, { DPoP, ...http }),
    );
  const DPoP = oauth.DPoP(it, key);
  await assert.rejects(mint(DPoP), (error) => oauth.isDPoPNonceError(error));
  const token = await mint(DPoP);
  for (const url of [api, route]) {
    const fresh = oauth.DPoP(it, key);
    const call = () => oauth.protectedResourceRequest(token.access_token, 'GET', url, undefined, undefined, { DPoP: fresh, ...http });
    await assert.rejects(call(), (error) => oauth.isDPoPNonceError(error), String(url));
    assert.equal((await call()).status, 200);
  }
});
