import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import test from 'node:test';
import { promisify } from 'node:util';
import * as oauth from 'oauth4webapi';
import * as client from 'openid-client';
import { freePorts } from '#scripts/ports.ts';
import { basic, makeClient, makeCode, makePerson, REDIRECT, VERIFIER } from '#server/oauth/oauth.fixture.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ask, startGateway } from '../gateway.fixture.ts';
import { startWeb } from '../v1/web.fixture.ts';

// Clients by other authors against the authorization server, over real sockets.

const [port, testPort] = (await freePorts(2)) as [number, number];
const ISSUER = new URL(`http://127.0.0.1:${port}`);
await testDatabase({ PUBLIC_API_URL: ISSUER.origin, PUBLIC_SANDBOX_API_URL: `http://127.0.0.1:${testPort}` });
const web = await startWeb();
const { gateway } = await startGateway();
await gateway.listen('api', port, '127.0.0.1');
await gateway.listen('sandbox', testPort, '127.0.0.1');

const w = await workspace();
const { user } = await makePerson(w);
const http = { [oauth.allowInsecureRequests]: true } as const;
const oauth2: client.DiscoveryRequestOptions = { algorithm: 'oauth2', execute: [client.allowInsecureRequests] };
const discover = async () => oauth.processDiscoveryResponse(ISSUER, await oauth.discoveryRequest(ISSUER, { algorithm: 'oauth2', ...http }));

test('openid-client discovers the server, mints, introspects and revokes, and the gateway answers mint and introspection by itself', async () => {
  const machine = await makeClient(w);
  const config = await client.discovery(ISSUER, machine.client_id, undefined, client.ClientSecretBasic(machine.secret), oauth2);
  const before = web.seen.length;
  const token = await client.clientCredentialsGrant(config, { scope: 'routes:read' });
  assert.deepEqual([token.token_type, token.scope, token.expires_in], ['bearer', 'routes:read', 3600]);
  const seen = await client.tokenIntrospection(config, token.access_token);
  assert.deepEqual([seen.active, seen.scope, seen.iss, seen.aud], [true, 'routes:read', ISSUER.origin, `${ISSUER.origin}/v1`]);
  assert.equal(web.seen.length, before);
  await client.tokenRevocation(config, token.access_token);
  assert.deepEqual(await client.tokenIntrospection(config, token.access_token), { active: false });
  const posted = await client.discovery(ISSUER, machine.client_id, undefined, client.ClientSecretPost(machine.secret), oauth2);
  assert.equal((await client.clientCredentialsGrant(posted)).scope, 'routes:read routes:write');
});

test('oauth4webapi exchanges a code with a DPoP proof, refreshes with the same key only, and uses the token', async () => {
  const app = await makeClient(w, { type: 'public' });
  const as = await discover();
  const it: oauth.Client = { client_id: app.client_id };
  const [key, other] = [await oauth.generateKeyPair('ES256'), await oauth.generateKeyPair('EdDSA')];
  const DPoP = oauth.DPoP(it, key);
  const { code } = await makeCode(app, user.id);
  const back = oauth.validateAuthResponse(as, it, new URL(`${REDIRECT}?code=${code}&iss=${encodeURIComponent(ISSUER.origin)}`));
  const answered = await oauth.authorizationCodeGrantRequest(as, it, oauth.None(), back, REDIRECT, VERIFIER, { DPoP, ...http });
  assert.match(answered.headers.get('dpop-nonce') ?? '', /^[A-Za-z0-9_-]{32}$/);
  const tokens = await oauth.processAuthorizationCodeResponse(as, it, answered);
  assert.equal(tokens.token_type, 'dpop');
  const call = await oauth.protectedResourceRequest(tokens.access_token, 'GET', new URL('/v1/environments', ISSUER), undefined, undefined, {
    DPoP,
    ...http,
  });
  assert.notEqual(call.status, 401);
  const refreshToken = tokens.refresh_token ?? '';
  const refreshed = async (options: object) => oauth.refreshTokenGrantRequest(as, it, oauth.None(), refreshToken, { ...http, ...options });
  await assert.rejects(
    async () => oauth.processRefreshTokenResponse(as, it, await refreshed({ DPoP: oauth.DPoP(it, other) })),
    /invalid_grant|unsuccessful|error/,
  );
  await assert.rejects(async () => oauth.processRefreshTokenResponse(as, it, await refreshed({})));
  const next = await oauth.processRefreshTokenResponse(as, it, await refreshed({ DPoP }));
  assert.deepEqual([next.token_type, next.scope], ['dpop', 'routes:read routes:write']);
  assert.ok(next.refresh_token && next.refresh_token !== refreshToken);
});

test('a client that requires DPoP gets no token without it, and introspection shows the key', async () => {
  const machine = await makeClient(w, { require_dpop: true });
  const as = await discover();
  const it: oauth.Client = { client_id: machine.client_id };
  const auth = oauth.ClientSecretBasic(machine.secret);
  const bare = await oauth.clientCredentialsGrantRequest(as, it, auth, {}, http);
  assert.deepEqual([bare.status, ((await bare.json()) as { error: string }).error], [400, 'invalid_dpop_proof']);
  const DPoP = oauth.DPoP(it, await oauth.generateKeyPair('ES256'));
  const token = await oauth.processClientCredentialsResponse(
    as,
    it,
    await oauth.clientCredentialsGrantRequest(as, it, auth, {}, { DPoP, ...http }),
  );
  assert.equal(token.token_type, 'dpop');
  const seen = await oauth.processIntrospectionResponse(as, it, await oauth.introspectionRequest(as, it, auth, token.access_token, http));
  assert.equal(seen.cnf?.jkt, await DPoP.calculateThumbprint());
});

test('the metadata documents are those of RFC 8414 and RFC 9728, per host, readable from anywhere', async () => {
  const as = await discover();
  assert.deepEqual(as.grant_types_supported, [
    'authorization_code',
    'client_credentials',
    'refresh_token',
    'urn:ietf:params:oauth:grant-type:device_code',
    'urn:ietf:params:oauth:grant-type:token-exchange',
  ]);
  assert.deepEqual(
    [as.code_challenge_methods_supported, as.response_types_supported, as.registration_endpoint],
    [['S256'], ['code'], undefined],
  );
  assert.equal(as.client_id_metadata_document_supported, true);
  for (const [at, path] of [
    [port, ''],
    [port, '/v1'],
    [testPort, ''],
  ] as const) {
    const answer = await fetch(`http://127.0.0.1:${at}/.well-known/oauth-protected-resource${path}`);
    assert.deepEqual(
      [answer.headers.get('access-control-allow-origin'), answer.headers.get('cache-control')],
      ['*', 'public, max-age=3600'],
    );
    const { resource, authorization_servers, bearer_methods_supported } = (await answer.json()) as Record<string, unknown>;
    const origin = `http://127.0.0.1:${at}`;
    assert.deepEqual([resource, authorization_servers, bearer_methods_supported], [`${origin}/v1`, [origin], ['header']]);
  }
  const resource = await oauth.processResourceDiscoveryResponse(
    new URL('/v1', ISSUER),
    await oauth.resourceDiscoveryRequest(new URL('/v1', ISSUER), http),
  );
  assert.deepEqual(resource.authorization_servers, [ISSUER.origin]);
  const own = `127.0.0.1:${port}`;
  const shape = async (at: string, host: string) => {
    const { status, json } = await ask(port, 'api', at, { headers: { host } });
    const { error } = json() as unknown as { error: { type: string; message: string; request_id?: string } };
    return [status, error.type, error.message];
  };
  // Only a token names the workspace on these hosts, so every name of an MCP server has the same document and tells nothing about who has it.
  for (const path of ['/v1/mcp', '/v1/mcp/files', '/v1/mcp/nobody-has-this']) {
    const wellKnown = `/.well-known/oauth-protected-resource${path}`;
    const { status, json } = await ask(port, 'api', wellKnown, { headers: { host: own } });
    const document = json() as Record<string, unknown>;
    assert.deepEqual([status, document.resource, document.authorization_servers], [200, ISSUER.origin + path, [ISSUER.origin]], wellKnown);
  }
  assert.deepEqual(await shape('/.well-known/oauth-protected-resource/v1/mcp/No_Server', own), [
    404,
    'tenant_not_found',
    'No workspace found at this address.',
  ]);
  assert.equal((await ask(port, 'api', '/.well-known/oauth-authorization-server', { method: 'POST', headers: { host: own } })).status, 405);
  assert.equal((await ask(port, 'api', '/.well-known/openid-configuration', { headers: { host: own } })).status, 404);
});

test('the scenario authorization-server-metadata-endpoint of @modelcontextprotocol/conformance passes', async () => {
  const tool = 'node_modules/@modelcontextprotocol/conformance/dist/index.js';
  const args = [tool, 'authorization', '--url', ISSUER.origin, '--scenario', 'authorization-server-metadata-endpoint', '--verbose'];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  assert.match(stdout, /SUCCESS/);
  assert.doesNotMatch(stdout, /FAILURE/);
});

test('the gateway and web say the same to the same call, but for what is minted', async () => {
  const machine = await makeClient(w);
  const { text } = await w.key();
  const minted = await ask(port, 'api', '/oauth/token', formCall('grant_type=client_credentials', machine.basic));
  const { access_token } = minted.json() as unknown as { access_token: string };
  const calls: [string, string, string | undefined, number, number][] = [
    ['/oauth/token', 'grant_type=client_credentials', machine.basic, 200, 0],
    ['/oauth/token', 'grant_type=client_credentials&scope=routes:read', basic('tk_live', text.slice(8)), 200, 0],
    ['/oauth/token', `grant_type=client_credentials&client_id=${machine.client_id}&client_secret=${machine.secret}`, undefined, 200, 0],
    ['/oauth/introspect', `token=${access_token}`, machine.basic, 200, 0],
    ['/oauth/introspect', 'token=x', machine.basic, 200, 0],
    ['/oauth/introspect', '', machine.basic, 400, 1],
    ['/oauth/token', 'grant_type=client_credentials&scope=nonsense', machine.basic, 400, 1],
    ['/oauth/token', 'grant_type=client_credentials&scope=a&scope=a', machine.basic, 400, 1],
    ['/oauth/token', 'grant_type=refresh_token&refresh_token=x', machine.basic, 400, 1],
    ['/oauth/revoke', 'token=x', machine.basic, 200, 1],
    ['/oauth/token', 'grant_type=client_credentials', basic(machine.client_id, `${machine.secret}x`), 401, 1],
    // After a failure web decides about this client from this address.
    ['/oauth/token', 'grant_type=client_credentials', machine.basic, 200, 1],
  ];
  for (const [path, body, authorization, status, asked] of calls) {
    const before = web.seen.length;
    const hot = await ask(port, 'api', path, formCall(body, authorization));
    assert.deepEqual([hot.status, web.seen.length - before], [status, asked], `${path} ${body}`);
    const odd = await ask(port, 'api', path, formCall(body, authorization, { 'if-none-match': '"x"' }));
    assert.deepEqual(seenBy(hot), seenBy(odd), `${path} ${body}`);
  }
});

const formCall = (body: string, authorization: string | undefined, headers: Record<string, string> = {}) => ({
  method: 'POST',
  body,
  headers: {
    host: `127.0.0.1:${port}`,
    'content-type': 'application/x-www-form-urlencoded',
    ...(authorization ? { authorization } : {}),
    ...headers,
  },
});

/** An answer without what differs between any two. */
function seenBy({ status, headers, body }: { status: number; headers: Record<string, string>; body: string }) {
  const { date, 'x-request-id': _, ...same } = headers;
  assert.ok(date);
  return { status, headers: same, body: body.replace(/svc_live_[0-9A-Za-z]+/g, 'TOKEN') };
}

test('a disabled client and a replaced secret are refused on the next call, though the gateway remembers clients for a moment', async () => {
  const machine = await makeClient(w);
  const mint = async (authorization = machine.basic) =>
    (await ask(port, 'api', '/oauth/token', formCall('grant_type=client_credentials', authorization))).status;
  assert.equal(await mint(), 200);
  await db().oauth_client_secrets.updateMany({ where: { client_row_id: machine.row.id }, data: { revoked_at: new Date() } });
  await until(async () => (await mint()) === 401);
  const other = await makeClient(w);
  assert.equal(await mint(other.basic), 200);
  await db().oauth_clients.update({ where: { id: other.row.id }, data: { active: false } });
  await until(async () => (await mint(other.basic)) === 401);
});
