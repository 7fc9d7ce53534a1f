import assert from 'node:assert/strict';
import test from 'node:test';
import * as oauth from 'oauth4webapi';
import * as client from 'openid-client';
import { freePorts } from '#scripts/ports.ts';
import { TOKEN_EXCHANGE } from '#server/domain/oauth-clients/grants.shared.ts';
import { TestIssuer } from '#server/platform/connect/issuer.fixture.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { until } from '#server/testing/until.ts';
import { tokenActor, workspace } from '#server/testing/workspace.ts';
import { startGateway } from '../gateway.fixture.ts';
import { startWeb } from '../v1/web.fixture.ts';

// The exchange of a workload's token by clients of other authors, and what the new token may do, over real sockets.

const [port, testPort] = (await freePorts(2)) as [number, number];
const ISSUER = new URL(`http://127.0.0.1:${port}`);
await testDatabase({ PUBLIC_API_URL: ISSUER.origin, PUBLIC_SANDBOX_API_URL: `http://127.0.0.1:${testPort}` });
await startWeb();
const { gateway } = await startGateway();
await gateway.listen('api', port, '127.0.0.1');
await gateway.listen('sandbox', testPort, '127.0.0.1');

const platform = await TestIssuer.start();
const w = await workspace();
const ctx = () => ({ ...w.live, actor: tokenActor() });
const pipeline: { id: string; client_id: string } = await made(ctx(), 'oauth_clients.create', {
  ...{ name: 'Pipeline', grant_types: [TOKEN_EXCHANGE], allowed_scopes: ['environments:read', 'environments:write'] },
});
await made(ctx(), 'trust_bindings.create', {
  ...{
    id: pipeline.id,
    name: 'Deploy from main',
    provider: 'github_actions',
    issuer: platform.issuer,
    audience: `service:api:${w.tenant.slug}`,
  },
  ...{ subject: 'repo:acme/app:ref:refs/heads/main', claims: { repository_owner_id: '1234567' }, scopes: ['environments:read'] },
});
const aud = `service:api:${w.tenant.slug}`;
const parameters = async (claims: object = { aud }) => ({
  subject_token: await platform.token({ ...claims }),
  subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
  tenant: w.tenant.slug,
});
const environments = (token: string, method = 'GET') =>
  fetch(new URL('/v1/environments', ISSUER), {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(method === 'GET' ? {} : { body: JSON.stringify({ name: 'staging' }) }),
  });

test('openid-client exchanges the token of a job for one that reads what the binding allows and nothing else', async () => {
  const config = await client.discovery(ISSUER, pipeline.client_id, undefined, client.None(), {
    ...{ algorithm: 'oauth2', execute: [client.allowInsecureRequests] },
  });
  const answer = await client.genericGrantRequest(config, TOKEN_EXCHANGE, await parameters());
  assert.deepEqual(
    [answer.token_type, answer.scope, answer.expires_in, answer.refresh_token, answer.issued_token_type],
    ['bearer', 'environments:read', 3600, undefined, 'urn:ietf:params:oauth:token-type:access_token'],
  );
  assert.equal((await environments(answer.access_token)).status, 200);
  assert.equal((await environments(answer.access_token, 'POST')).status, 403, 'the client may, the binding may not');

  await assert.rejects(client.genericGrantRequest(config, TOKEN_EXCHANGE, await parameters({ aud: 'sts.amazonaws.com' })), {
    error: 'invalid_grant',
  });
  const entries = await db().audit_logs.findMany({
    where: { tenant_id: w.tenant.id, resource_type: 'trust_binding', action: { in: ['login', 'login_failed'] } },
    orderBy: { seq: 'asc' },
  });
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['login', 'login_failed'],
  );
  assert.deepEqual((entries[1]?.details as { not_matching?: unknown } | undefined)?.not_matching, [
    { claim: 'aud', expected: [aud], actual: ['sts.amazonaws.com'] },
  ]);
});

test('oauth4webapi binds the new token to a key, and ending the binding ends the token', async () => {
  const http = { [oauth.allowInsecureRequests]: true } as const;
  const as = await oauth.processDiscoveryResponse(ISSUER, await oauth.discoveryRequest(ISSUER, { algorithm: 'oauth2', ...http }));
  assert.ok(as.grant_types_supported?.includes(TOKEN_EXCHANGE));
  const it: oauth.Client = { client_id: pipeline.client_id };
  const DPoP = oauth.DPoP(it, await oauth.generateKeyPair('ES256'));
  const response = await oauth.genericTokenEndpointRequest(as, it, oauth.None(), TOKEN_EXCHANGE, await parameters(), { DPoP, ...http });
  const { access_token, token_type } = await oauth.processGenericTokenEndpointResponse(as, it, response);
  assert.equal(token_type, 'dpop');
  const read = () =>
    oauth.protectedResourceRequest(access_token, 'GET', new URL('/v1/environments', ISSUER), undefined, undefined, { DPoP, ...http });
  assert.equal((await read()).status, 200);
  assert.equal((await environments(access_token)).status, 401, 'without the key');
  const [binding] = await made(ctx(), 'trust_bindings.list', { id: pipeline.id });
  await made(ctx(), 'trust_bindings.delete', { id: pipeline.id, binding_id: binding.id });
  await until(() =>
    read().then(
      ({ status }) => status === 401,
      () => true,
    ),
  );
});
