import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { after } from 'node:test';
import { Provider } from 'oidc-provider';
import { handle } from '#server/auth/handle.ts';
import { readConnection } from '#server/custody/connections/connection.ts';
import { accessToken, openTokens, usableConnection } from '#server/custody/connections/connections.ts';
import { startTokenServer } from '#server/custody/connections/token-server.fixture.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { watchEvents } from '#server/testing/events.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { retryConnection, tellOfLost } from './notices.ts';

await testDatabase();

const CLIENT = { client_id: 'sallyport', client_secret: 'a secret of at least some length' };

/** node-oidc-provider, which knows one client; `redirectUri` is registered later, as a person does it. */
async function startProvider(lifeSeconds = 3_600) {
  const server = http.createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const redirect_uris = ['https://placeholder.example/'];
  const provider = new Provider(issuer, {
    clients: [
      {
        ...CLIENT,
        redirect_uris,
        grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
        response_types: ['code'],
        token_endpoint_auth_method: 'client_secret_basic',
      },
    ],
    scopes: ['openid', 'offline_access'],
    ttl: { AccessToken: lifeSeconds, ClientCredentials: lifeSeconds },
    cookies: { keys: ['a key for cookies'] },
    issueRefreshToken: async () => true,
    features: { clientCredentials: { enabled: true }, revocation: { enabled: true } },
    findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
  });
  let asked = 0;
  provider.on('grant.success', () => void asked++);
  server.on('request', provider.callback());
  return {
    issuer,
    auth_url: `${issuer}/auth`,
    token_url: `${issuer}/token`,
    get granted() {
      return asked;
    },
    async register(uri: string) {
      const client = await provider.Client.find(CLIENT.client_id);
      (client as unknown as { redirectUris: string[] }).redirectUris = [uri];
    },
  };
}

/** A browser without pages: follows redirects with cookies, signs in and consents, until the address begins with `until`. */
async function consent(start: string, until: string): Promise<string> {
  const jar = new Map<string, string>();
  let url = start;
  let form: URLSearchParams | undefined;
  for (let step = 0; step < 15; step++) {
    if (url.startsWith(until)) return url;
    const answer = await fetch(url, {
      redirect: 'manual',
      method: form ? 'POST' : 'GET',
      ...(form ? { body: form } : {}),
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
    });
    for (const line of answer.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
    }
    form = undefined;
    const location = answer.headers.get('location');
    if (location !== null) {
      url = new URL(location, url).href;
      continue;
    }
    const html = await answer.text();
    const action = /action="([^"]+)"/.exec(html)?.[1];
    assert.ok(action, html.slice(0, 2_000));
    const prompt = /name="prompt" value="([^"]+)"/.exec(html)?.[1] ?? 'login';
    form = new URLSearchParams({ prompt, login: 'ada@example.com', password: 'any' });
    url = new URL(action, url).href;
  }
  throw new Error('the provider never sent the browser back');
}

const API = 'http://localhost:4000';
/** The callback as the API's host serves it. */
const callback = (url: string) => handle(new Request(url, { headers: { accept: 'text/html' } }));

async function refusal(work: () => Promise<unknown>): Promise<{ type: string; message: string }> {
  try {
    await work();
  } catch (error) {
    if (error instanceof Refusal) return { type: error.type, message: error.message };
    throw error;
  }
  throw new Error('nothing was refused');
}

test('a person consents at a provider, the token is fetched and refreshed, and a revoked one asks for a new consent', async () => {
  const provider = await startProvider(30);
  const w = await workspace();
  const created = await made(w.live, 'secrets.create_oauth2', {
    name: fresh('CRM'),
    provider: 'custom',
    ...CLIENT,
    auth_url: provider.auth_url,
    token_url: provider.token_url,
    scopes: ['openid', 'offline_access'],
    extra_auth_params: { prompt: 'consent' },
  });
  assert.equal(created.connection_status, 'pending');
  assert.match(created.redirect_uri, new RegExp(`/auth/oauth2/callback/${created.id}$`));
  await provider.register(created.redirect_uri);
  assert.deepEqual(await refusal(() => made(w.live, 'secrets.oauth2_token', { id: created.id })).then((r) => r.type), 'token_error');

  const back = await consent(created.authorization_url, created.redirect_uri);
  const answer = await callback(back);
  assert.equal(answer.status, 302);
  assert.match(answer.headers.get('location') ?? '', /tab=connection&connected=yes$/);
  assert.equal(answer.headers.get('referrer-policy'), 'no-referrer');
  const token = await made(w.live, 'secrets.oauth2_token', { id: created.id });
  assert.equal(token.connection_status, 'connected');
  // 30 s of life are too few, so it was refreshed already, and the refresh token was turned over.
  const again = await made(w.live, 'secrets.oauth2_token', { id: created.id });
  assert.notEqual(again.access_token, token.access_token);

  const replay = await callback(back);
  assert.equal(replay.status, 400);
  assert.match(await replay.text(), /state_unknown/);

  // The provider forgets the grant.
  const found = await readConnection(w.live, { secretId: created.id, environment: 'production' });
  assert.ok(found);
  await db().secret_environments.update({ where: { id: found.id }, data: { oauth2_expires_at: new Date(0) } });
  const { refresh_token = '' } = await openTokens(w.live, found);
  const revoked = await fetch(`${provider.issuer}/token/revocation`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${CLIENT.client_id}:${encodeURIComponent(CLIENT.client_secret).replaceAll('%20', '+')}`).toString('base64')}`,
    },
    body: new URLSearchParams({ token: refresh_token }),
  });
  assert.equal(revoked.status, 200);
  assert.match((await refusal(() => made(w.live, 'secrets.oauth2_token', { id: created.id }))).message, /has expired\. Connect it again/);
  const shown = await made(w.live, 'secrets.get', { id: created.id });
  assert.deepEqual([shown.connection_status, shown.environments[0].connection_error], ['expired', 'invalid_grant']);
  const entry = await db().audit_logs.findFirstOrThrow({ where: { resource_id: created.id, actor_label: 'connections' } });
  assert.deepEqual((entry.details as { change: string; reason: string }).reason, 'invalid_grant');

  // The way back.
  const { authorization_url } = await made(w.live, 'secrets.reconnect', { id: created.id });
  assert.equal((await callback(await consent(authorization_url, created.redirect_uri))).status, 302);
  assert.equal((await made(w.live, 'secrets.get', { id: created.id })).connection_status, 'connected');
});

test('a consent that began in the dashboard is finished by the same session alone', async () => {
  const provider = await startProvider();
  const w = await workspace();
  const owner = w.member('owner');
  const created = await made(owner, 'secrets.create_oauth2', {
    name: fresh('CRM'),
    provider: 'custom',
    ...CLIENT,
    auth_url: provider.auth_url,
    token_url: provider.token_url,
    scopes: ['openid'],
  });
  await provider.register(created.redirect_uri);
  const answer = await callback(await consent(created.authorization_url, created.redirect_uri));
  const location = answer.headers.get('location') ?? '';
  assert.match(location, new RegExp(`/admin/secrets/${created.id}/oauth2/complete\\?handle=[\\w-]{43}$`));
  assert.equal((await made(owner, 'secrets.get', { id: created.id })).connection_status, 'pending', 'nothing was exchanged yet');
  const stranger = await handle(new Request(location));
  assert.equal(stranger.status, 401);
  assert.equal(provider.granted, 0);
});

test('of fifty calls on an expired connection one asks the provider', async () => {
  const tokens = await startTokenServer();
  const w = await workspace();
  const { id } = await made(w.live, 'secrets.create_oauth2', {
    ...{ name: fresh('CRM'), provider: 'custom', grant_type: 'client_credentials', token_url: tokens.url, ...CLIENT },
  });
  assert.equal(tokens.seen.length, 1);
  await db().secret_environments.updateMany({ where: { secret_id: id }, data: { oauth2_expires_at: new Date(0) } });
  tokens.delayMs = 300;
  const ref = { secretId: id, environment: 'production' };
  const all = await Promise.all(Array.from({ length: 50 }, () => accessToken(w.live, ref)));
  assert.deepEqual(new Set(all.map(({ access_token }) => access_token.reveal())), new Set(['access-2']));
  assert.equal(tokens.seen.length, 2);
  assert.equal((await made(w.live, 'secrets.get', { id })).environments[0].value_version, 1, 'a refresh is no new version');
  const values = await db().secret_values.findMany({ where: { environment: { secret_id: id } } });
  assert.equal(values.length, 1, 'the value that was replaced is gone');
});

test('a provider that is down leaves the connection usable, breaks it after five times, and it recovers by itself', async () => {
  const tokens = await startTokenServer();
  const w = await workspace();
  const { id } = await made(w.live, 'secrets.create_oauth2', {
    ...{ name: fresh('CRM'), provider: 'custom', grant_type: 'client_credentials', token_url: tokens.url, ...CLIENT },
  });
  const row = await db().secret_environments.findFirstOrThrow({ where: { secret_id: id } });
  const due = () =>
    db().secret_environments.update({ where: { id: row.id }, data: { oauth2_expires_at: new Date(0), oauth2_retry_at: null } });
  tokens.answer = (_, res) => res.writeHead(503).end('down: a text that nobody may see');
  const ref = { secretId: id, environment: 'production' };
  for (let n = 1; n <= 5; n++) {
    await due();
    await assert.rejects(usableConnection(w.live, ref), { name: 'TokenUnavailable' });
    const { oauth2_status } = await db().secret_environments.findUniqueOrThrow({ where: { id: row.id } });
    assert.equal(oauth2_status, n < 5 ? 'connected' : 'error', `failure ${n}`);
  }
  // Nobody asks again before its time.
  const before = tokens.seen.length;
  await assert.rejects(usableConnection(w.live, ref), { name: 'TokenUnavailable' });
  assert.equal(tokens.seen.length, before);

  const events = await watchEvents(w.live, 'secret.oauth2.disconnected');
  const lease = { resource_id: row.id, tenant_id: w.tenant.id, sandbox: false, attempts: 0, version: 0 };
  const told = await db().$transaction((tx) => tellOfLost(tx, [lease], new Date()));
  assert.equal(told.acted, 1);
  assert.equal((await db().$transaction((tx) => tellOfLost(tx, [lease], new Date()))).acted, 0, 'once for each transition');
  const raised = await events();
  assert.deepEqual(
    raised.map(({ about, data }) => [about, data.environment, data.connection_status]),
    [[id, 'production', 'error']],
  );
  assert.ok(!JSON.stringify(raised).includes('a text that nobody may see'));

  tokens.answer = () => undefined;
  await due();
  await db().secret_environments.update({ where: { id: row.id }, data: { oauth2_retry_at: new Date(0) } });
  await retryConnection(lease);
  assert.equal((await made(w.live, 'secrets.get', { id })).connection_status, 'connected');
});

test('a first token that the provider refuses stores nothing and tells no text of the provider', async () => {
  const tokens = await startTokenServer();
  const w = await workspace();
  const input = { provider: 'custom', grant_type: 'client_credentials', token_url: tokens.url, ...CLIENT };
  tokens.answer = (_, res) => res.writeHead(401).end('{"error":"invalid_client","error_description":"the secret is hunter2"}');
  const refused = await refusal(() => made(w.live, 'secrets.create_oauth2', { name: 'CRM', ...input }));
  assert.equal(refused.type, 'validation_error');
  assert.match(refused.message, /client_secret: .*invalid_client/);
  assert.doesNotMatch(refused.message, /hunter2/);
  assert.equal(await db().secrets.count({ where: { tenant_id: w.tenant.id } }), 0);
  for (const [body, status] of [
    ['access_token=gho_1&token_type=bearer&scope=', 200],
    ['{"ok":true,"access_token":"xoxb-1","token_type":"bot"}', 200],
  ] as const) {
    tokens.answer = (_, res) => res.writeHead(status).end(body);
    assert.equal((await made(w.live, 'secrets.create_oauth2', { name: fresh('CRM'), ...input })).connection_status, 'connected', body);
  }
  for (const body of [
    '{"ok":false,"error":"invalid_auth"}',
    '{"error":"bad"}',
    '<html>',
    '{"access_token":"a b"}',
    '[]',
    '{"access_token":5}',
  ]) {
    tokens.answer = (_, res) => res.writeHead(200).end(body);
    assert.equal(
      (await refusal(() => made(w.live, 'secrets.create_oauth2', { name: fresh('CRM'), ...input }))).type,
      'validation_error',
      body,
    );
  }
  tokens.answer = (_, res) => res.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
  assert.equal((await refusal(() => made(w.live, 'secrets.create_oauth2', { name: fresh('CRM'), ...input }))).type, 'validation_error');
});

test('URLs of a provider are judged like every URL that a caller gives', async () => {
  const w = await workspace();
  const base = { provider: 'custom', grant_type: 'authorization_code', ...CLIENT };
  const good = 'https://login.example.com/authorize';
  for (const url of [
    'http://login.example.com/token',
    'https://10.0.0.1/token',
    'https://169.254.169.254/latest/meta-data',
    'https://[::ffff:10.0.0.1]/token',
    'https://0x0a000001/token',
    'https://2130706433/',
    'https://user:pass@login.example.com/token',
    'https://login.example.com:8443/token',
    'https://login.example.com/token#x',
    'https://login.example.com/../token',
    'file:///etc/passwd',
    'gopher://login.example.com/',
    'javascript:alert(1)',
    `${API}/oauth/token`,
    'https://login.example.com/token?x=1',
    'not a url',
  ])
    for (const field of ['auth_url', 'token_url'] as const) {
      const input = { ...base, name: fresh('CRM'), auth_url: good, token_url: good, [field]: url };
      const { type, message } = await refusal(() => made(w.live, 'secrets.create_oauth2', input));
      assert.deepEqual([type, message.split(':')[0]], ['validation_error', field], url);
    }
});

test('a disconnected connection keeps its credentials and no token, and connects again', async () => {
  const tokens = await startTokenServer();
  const w = await workspace();
  const { id } = await made(w.live, 'secrets.create_oauth2', {
    ...{ name: fresh('CRM'), provider: 'custom', grant_type: 'password', token_url: tokens.url, client_id: 'an-application' },
    ...{ username: 'ada', password: 'a password nobody may see' },
  });
  assert.deepEqual([tokens.seen[0]?.username, tokens.seen[0]?.grant_type], ['ada', 'password']);
  assert.equal((await made(w.live, 'secrets.disconnect', { id })).connection_status, 'disconnected');
  assert.match((await refusal(() => made(w.live, 'secrets.oauth2_token', { id }))).message, /not connected/);
  assert.equal((await made(w.live, 'secrets.reconnect', { id })).connection_status, 'connected');
  assert.equal(tokens.seen.at(-1)?.password, 'a password nobody may see');
  assert.equal((await made(w.live, 'secrets.oauth2_token', { id })).access_token, 'access-2');
});

test('the token of a pinned secret is not handed out, and one entry a minute says who read others', async () => {
  const tokens = await startTokenServer();
  const w = await workspace();
  const input = { provider: 'custom', grant_type: 'client_credentials', token_url: tokens.url, ...CLIENT };
  const pinned = await made(w.live, 'secrets.create_oauth2', { name: fresh('CRM'), ...input, allowed_hosts: ['api.example.com'] });
  assert.equal((await refusal(() => made(w.live, 'secrets.oauth2_token', { id: pinned.id }))).type, 'forbidden');
  const { id } = await made(w.live, 'secrets.create_oauth2', { name: fresh('CRM'), ...input });
  for (let n = 0; n < 5; n++) await made(w.live, 'secrets.oauth2_token', { id });
  const entries = await db().audit_logs.findMany({ where: { resource_id: id, action: 'execute' } });
  assert.deepEqual(
    entries.map(({ details }) => (details as { operation: string; count: number }).count),
    [1],
  );
  const other = await made(w.live, 'secrets.create', { name: fresh('PLAIN'), value: 'x' });
  assert.equal((await refusal(() => made(w.live, 'secrets.oauth2_token', { id: other.id }))).type, 'invalid_type');
});
