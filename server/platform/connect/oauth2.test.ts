import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import test from 'node:test';
import { inspect } from 'node:util';
import { Sensitive } from '#server/crypto/sensitive.ts';
import { createResolver } from '../http-out/resolver.ts';
import { listen, loopback, toLoopback } from '../http-out/upstream.fixture.ts';
import { openHttp } from './http.ts';
import { createTokenClient, TokenFault, type TokenRequest } from './oauth2.ts';

// Against an authorization server of RFC 6749 on a real socket.

const http = openHttp({ resolver: createResolver({ settings: loopback, resolve: toLoopback }) });
test.after(() => http.close());
const SECRET = 's3cret:with/odd+chars%';

type Seen = { form: URLSearchParams; authorization: string | undefined };
type Answer = (seen: Seen, res: ServerResponse) => void;

async function server(answer: Answer = grant()) {
  const seen: Seen[] = [];
  const port = await listen(
    createServer(async (req: IncomingMessage, res) => {
      const chunks: Buffer[] = [];
      for await (const chunk of req) chunks.push(chunk as Buffer);
      const call = { form: new URLSearchParams(Buffer.concat(chunks).toString()), authorization: req.headers.authorization };
      seen.push(call);
      answer(call, res);
    }),
  );
  return { url: `http://127.0.0.1:${port}/token`, seen };
}
const json = (res: ServerResponse, status: number, body: object, headers = {}) =>
  res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
function grant(extra: object = { expires_in: 3600 }): Answer {
  let n = 0;
  return (_, res) => json(res, 200, { access_token: `token-${++n}`, token_type: 'Bearer', ...extra });
}
const requestOf = (token_endpoint: string, extra: Partial<TokenRequest> = {}): TokenRequest => ({
  ...{ tenant: 't1', space: 'live', credential: 'c1:1', token_endpoint, client_id: 'client:1', client_secret: new Sensitive(SECRET) },
  ...extra,
});

test('client credentials get a token, with the client authenticated as RFC 6749 §2.3.1 says', async () => {
  const { url, seen } = await server();
  const client = createTokenClient(http);
  const token = await client.token(requestOf(url, { parameters: { scope: 'read write', audience: 'api' } }));
  assert.deepEqual([token.access_token.reveal(), token.token_type], ['token-1', 'bearer']);
  const [id, secret] = Buffer.from(seen[0]!.authorization!.replace('Basic ', ''), 'base64').toString().split(':');
  const decode = (text = '') => decodeURIComponent(text.replaceAll('+', ' '));
  assert.deepEqual([decode(id), decode(secret)], ['client:1', SECRET]);
  assert.deepEqual(Object.fromEntries(seen[0]!.form), { grant_type: 'client_credentials', scope: 'read write', audience: 'api' });
  await client.token(requestOf(url, { credential: 'c2', client_auth: 'post' }));
  assert.deepEqual(
    [seen[1]!.authorization, seen[1]!.form.get('client_id'), seen[1]!.form.get('client_secret')],
    [undefined, 'client:1', SECRET],
  );
});

test('calls that come together make one request, each credential and workspace its own', async () => {
  const { url, seen } = await server();
  const client = createTokenClient(http);
  await Promise.all(Array.from({ length: 50 }, () => client.token(requestOf(url))));
  assert.equal(seen.length, 1);
  await Promise.all(
    [requestOf(url, { credential: 'c2' }), requestOf(url, { tenant: 't2' }), requestOf(url, { space: 'test' })].map((r) => client.token(r)),
  );
  assert.equal(seen.length, 4);
  client.forget(requestOf(url));
  assert.notEqual((await client.token(requestOf(url))).access_token.reveal(), 'token-1');
});

test('a token is renewed before it expires, one of unknown life is never kept, and a failure is not remembered', async () => {
  let time = 1_000_000;
  const client = createTokenClient(http, () => time);
  const { url, seen } = await server();
  await client.token(requestOf(url));
  time += 3_600_000 - 61_000;
  await client.token(requestOf(url));
  assert.equal(seen.length, 1);
  time += 2_000;
  await client.token(requestOf(url));
  assert.equal(seen.length, 2);

  const endless = await server(grant({}));
  for (let i = 0; i < 3; i++) assert.equal((await client.token(requestOf(endless.url, { credential: 'endless' }))).expires_at, null);
  assert.equal(endless.seen.length, 3);

  let down = true;
  const flaky = await server((call, res) => (down ? json(res, 503, { error: 'temporarily_unavailable' }) : grant()(call, res)));
  await assert.rejects(client.token(requestOf(flaky.url, { credential: 'flaky' })), { kind: 'unreachable', code: undefined });
  down = false;
  await client.token(requestOf(flaky.url, { credential: 'flaky' }));
});

test('a refresh token that is replaced is stored before the access token is given out', async () => {
  const { url, seen } = await server((_, res) =>
    json(res, 200, { access_token: 'a', token_type: 'bearer', expires_in: 60, refresh_token: 'r2' }),
  );
  const client = createTokenClient(http);
  const stored: string[] = [];
  const refreshing = (refreshTokenRotated: TokenRequest['refreshTokenRotated']) =>
    requestOf(url, { refresh_token: new Sensitive('r1'), refreshTokenRotated });
  await assert.rejects(client.token(refreshing(() => Promise.reject(new Error('the database is away')))), /the database is away/);
  await client.token(refreshing(async (token) => void stored.push(token.reveal())));
  assert.deepEqual(stored, ['r2']);
  assert.deepEqual([seen[1]!.form.get('grant_type'), seen[1]!.form.get('refresh_token')], ['refresh_token', 'r1']);
});

test('what goes wrong has a type and repeats nothing of the server, which may repeat the secret', async () => {
  const client = createTokenClient(http);
  const fails = async (answer: Answer, expected: Partial<TokenFault>) => {
    const { url } = await server(answer);
    await assert.rejects(client.token(requestOf(url)), (error) => {
      assert.ok(error instanceof TokenFault, inspect(error));
      assert.deepEqual({ kind: error.kind, code: error.code }, { code: undefined, ...expected });
      assert.ok(!inspect(error, { depth: 9 }).includes(SECRET) && !JSON.stringify(error).includes(SECRET));
      return true;
    });
  };
  const echo = { error_description: `no such secret ${SECRET}` };
  await fails((_, res) => json(res, 400, { error: 'invalid_grant', ...echo }), { kind: 'rejected', code: 'invalid_grant' });
  await fails((_, res) => json(res, 400, { error: SECRET }), { kind: 'rejected', code: 'unknown_error' });
  await fails((_, res) => json(res, 401, { error: 'invalid_client', ...echo }, { 'www-authenticate': `Basic realm="${SECRET}"` }), {
    kind: 'rejected',
    code: 'invalid_client',
  });
  await fails((_, res) => res.writeHead(200, { 'content-type': 'text/html' }).end(SECRET), { kind: 'invalid_response' });
  await fails((_, res) => json(res, 200, { token_type: 'bearer', note: SECRET }), { kind: 'invalid_response' });
  await fails((_, res) => res.writeHead(302, { location: 'http://169.254.169.254/' }).end(), { kind: 'invalid_response' });
  await fails((_, res) => json(res, 200, { access_token: 'x'.repeat(100_000), token_type: 'bearer' }), { kind: 'unreachable' });
  await fails((_, res) => res.destroy(), { kind: 'unreachable' });
  for (const host of ['169.254.169.254', '10.0.0.5'])
    await assert.rejects(client.token(requestOf(`https://${host}/token`)), { kind: 'blocked' });
});
