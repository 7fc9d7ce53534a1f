import assert from 'node:assert/strict';
import test from 'node:test';
import { until } from '#server/testing/until.ts';
import { createSallyport, type SallyportOptions } from './client.ts';
import { bearer, clientCredentials } from './credential.ts';
import { createDpopKey } from './dpop.ts';
import { ConnectionError, SallyportError } from './error.ts';
import { createGateway } from './gateway.ts';
import { answer, done, failureOf, refuse, startServer, truncated } from './hostile-server.fixture.ts';
import { backoff, delayAfter } from './retry.ts';

// The client contract against a server that misbehaves (interface rule 64 §8). Waits are those of the contract, so few of them are awaited here.

const KEY = 'tk_live_aaaaaaaaaaaa_secret';
const client = (url: string, more: SallyportOptions = {}) => createSallyport({ base_url: `${url}/v1`, credential: KEY, ...more });
const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/;

for (const status of [408, 429, 500, 502, 503, 504])
  test(`a change answered ${status} is repeated with the same idempotency key`, async () => {
    const server = await startServer(refuse(status, 'x'), done);
    await client(server.url).environments.create({ body: { name: 'staging' } });
    const [first, second] = server.heard;
    assert.match(String(first?.headers['x-idempotency-key']), ULID);
    assert.equal(second?.headers['x-idempotency-key'], first?.headers['x-idempotency-key']);
    assert.deepEqual([second?.body, second?.headers['service-version']], ['{"name":"staging"}', '2026-08-05']);
  });

for (const status of [400, 401, 403, 404, 409, 422, 501])
  test(`${status} is final`, async () => {
    const server = await startServer(refuse(status, 'x'), done);
    await assert.rejects(client(server.url).environments.create({ body: { name: 'a' } }), { name: 'SallyportError', status, type: 'x' });
    assert.equal(server.heard.length, 1);
  });

test('a credential that no header can hold is refused without being shown', async () => {
  const server = await startServer(done);
  for (const credential of ['tk_live_aaaa\nSECRET', 'tk_live_SECRET\u0007x', 'tk_live_ SECRET', 'tk_live_SECRET”x']) {
    const error = await failureOf<Error>(client(server.url, { credential }).environments.list());
    assert.ok(error instanceof TypeError);
    assert.doesNotMatch(`${error.stack} ${error.message}`, /SECRET/);
  }
  assert.equal(server.heard.length, 0);
});

test('a path of one route reaches no other, whatever a URL makes of its characters', async () => {
  const server = await startServer(done);
  const call = createGateway({ proxy_url: server.url, credential: bearer(KEY) });
  for (const path of ['/.\t./other', '/\n../other', '/.. ', '/%2E\r%2e/other', '/a/../../other', '/\\..\\other', '/..\u0000'])
    await assert.rejects(call('mine', path), TypeError, JSON.stringify(path));
  assert.equal(server.heard.length, 0);
});

test('each change has an idempotency key of its own, the caller’s is kept, and reads have none', async () => {
  const server = await startServer(done);
  const sallyport = client(server.url);
  await sallyport.environments.create({ body: { name: 'a' } });
  await sallyport.environments.create({ body: { name: 'a' } });
  await sallyport.environments.create({ body: { name: 'a' }, headers: { 'Idempotency-Key': 'mine' } });
  await sallyport.environments.list();
  const keys = server.heard.map(({ headers }) => [headers['x-idempotency-key'], headers['idempotency-key']]);
  assert.notEqual(keys[0]?.[0], keys[1]?.[0]);
  assert.deepEqual(keys.slice(2), [
    [undefined, 'mine'],
    [undefined, undefined],
  ]);
});

test('Retry-After is honoured in digits, up to 30 seconds', async () => {
  const delay = (headers: Record<string, string>) => delayAfter(new Response(null, { status: 429, headers }), 0, () => 0);
  assert.equal(delay({ 'retry-after': '7' }), 7_000);
  assert.equal(delay({ 'retry-after': '30' }), 30_000);
  assert.equal(delay({ 'retry-after': '31' }), undefined);
  assert.equal(
    delay({ 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }),
    backoff(0, () => 0),
  );
  assert.equal(
    delay({ 'retry-after': '-5' }),
    backoff(0, () => 0),
  );
  assert.equal(delay({ 'x-svc-upstream-status': '429' }), undefined, 'an upstream’s answer is never ours to repeat');
  const server = await startServer(refuse(429, 'rate_limit_exceeded', { 'retry-after': '1' }), done);
  await client(server.url).environments.list();
  const [first, second] = server.heard;
  assert.ok((second?.at ?? 0) - (first?.at ?? 0) >= 995);
  const long = await startServer(refuse(429, 'rate_limit_exceeded', { 'retry-after': '600' }));
  await assert.rejects(client(long.url).environments.list(), { retry_after: 600, next_step: 'Try again in 600 seconds.' });
  assert.equal(long.heard.length, 1);
});

test('waits grow, and no two clients wait alike', () => {
  assert.deepEqual(
    [0, 1, 2, 9].map((attempt) => [backoff(attempt, () => 0), backoff(attempt, () => 1)]),
    [
      [250, 500],
      [500, 1_000],
      [1_000, 2_000],
      [4_000, 8_000],
    ],
  );
});

test('it gives up after the attempts it was given and tells the last refusal', async () => {
  const server = await startServer(refuse(503, 'dependency_unavailable'));
  const error = await failureOf<SallyportError>(client(server.url, { max_retries: 1 }).environments.list());
  assert.ok(error instanceof SallyportError);
  assert.deepEqual([error.type, error.status, error.request_id, server.heard.length], ['dependency_unavailable', 503, 'r', 2]);
});

test('a truncated answer of a change is repeated under its key', async () => {
  const server = await startServer(truncated, done);
  await client(server.url).environments.create({ body: { name: 'a' } });
  assert.equal(server.heard.length, 2);
  assert.equal(server.heard[0]?.headers['x-idempotency-key'], server.heard[1]?.headers['x-idempotency-key']);
});

test('a redirect is never followed, so the credential reaches no other address', async () => {
  const elsewhere = await startServer(done);
  for (const status of [301, 302, 303, 307, 308]) {
    const server = await startServer(answer(status, {}, { location: `${elsewhere.url}/v1/environments` }));
    await assert.rejects(client(server.url).environments.list(), { type: 'unexpected_response', status });
  }
  assert.equal(elsewhere.heard.length, 0);
});

test('a credential is not sent in clear text to another machine', async () => {
  await assert.rejects(client('http://api.example.com').environments.list(), /over https only/);
  await assert.rejects(client('http://127.0.0.1.evil.example').environments.list(), /over https only/);
});

test('nothing of the credential or of a foreign body is in an error', async () => {
  const server = await startServer((res) => void res.writeHead(500, { 'content-type': 'text/html' }).end(`<h1>${KEY}</h1>`));
  const error = await failureOf<SallyportError>(client(server.url, { max_retries: 0 }).environments.list());
  assert.doesNotMatch(`${error.stack} ${JSON.stringify(error)}`, /secret|<h1>/);
  const gone = await failureOf<Error>(
    client('http://127.0.0.1:1', { max_retries: 0 }).request('GET', '/routes', { query: { q: 'searched' } }),
  );
  assert.ok(gone instanceof ConnectionError);
  assert.doesNotMatch(`${gone.message}`, /searched|secret/);
});

test('a silent server is given up on in time, and a signal ends it at once', async () => {
  const server = await startServer(() => undefined);
  await assert.rejects(client(server.url, { timeout_ms: 50, max_retries: 0 }).environments.list(), /No answer within 0.05 s/);
  const controller = new AbortController();
  const call = client(server.url).environments.list({ signal: controller.signal });
  const [ended] = await Promise.all([
    assert.rejects(call, /enough/),
    until(() => server.heard.length === 2).then(() => controller.abort(new Error('enough'))),
  ]);
  assert.equal(ended, undefined);
});

test('an ID can’t climb out of its path', async () => {
  const server = await startServer(done);
  for (const id of ['..', '.', '']) await assert.rejects(client(server.url).routes.delete({ path: { id } }), TypeError);
  await client(server.url).routes.delete({ path: { id: '../secrets/x?y#z' } });
  assert.equal(server.heard[0]?.url, '/v1/routes/..%2Fsecrets%2Fx%3Fy%23z');
});

test('client credentials mint one token for requests at the same time, and another after a refusal', async () => {
  let minted = 0;
  const server = await startServer((res, heard) => {
    if (heard.url === '/oauth/token') {
      minted++;
      return answer(200, { access_token: `svc_live_${minted}`, token_type: 'Bearer', expires_in: 3600, scope: '' })(res, heard);
    }
    return heard.headers.authorization === 'Bearer svc_live_1' && minted === 1 && server.heard.length > 4
      ? refuse(401, 'invalid_api_key')(res, heard)
      : done(res, heard);
  });
  const credential = clientCredentials({ origin: server.url }, { client_id: 'svc_client_x', client_secret: 'svcs_y' });
  const sallyport = client(server.url, { credential });
  await Promise.all([1, 2, 3].map(() => sallyport.environments.list()));
  assert.equal(minted, 1);
  await sallyport.environments.list();
  assert.equal(minted, 2);
  assert.equal(server.heard.at(-1)?.headers.authorization, 'Bearer svc_live_2');
});

test('a bound token is sent with a proof of each attempt, and again with the nonce that the server asks for', async () => {
  const key = await createDpopKey();
  const unauthorized = { 'www-authenticate': 'DPoP error="use_dpop_nonce"', 'dpop-nonce': 'n1' };
  const server = await startServer(refuse(401, 'invalid_dpop_proof', unauthorized), refuse(503, 'x'), done);
  await client(server.url, { credential: { token: () => Promise.resolve({ text: 'svc_live_t', key }) } }).environments.list();
  const proofs = server.heard.map(({ headers }) => {
    assert.equal(headers.authorization, 'DPoP svc_live_t');
    return JSON.parse(Buffer.from(String(headers.dpop).split('.')[1] ?? '', 'base64url').toString()) as Record<string, string>;
  });
  assert.deepEqual(
    proofs.map(({ htm, htu, nonce }) => [htm, htu, nonce]),
    [undefined, 'n1', 'n1'].map((nonce) => ['GET', `${server.url}/v1/environments`, nonce]),
  );
  assert.equal(new Set(proofs.map(({ jti }) => jti)).size, 3);
  assert.ok(proofs.every(({ ath }) => ath?.length === 43));
});

test('a refresh or a code is never sent twice after a broken connection', async () => {
  const { refreshGrant } = await import('./oauth.ts');
  const server = await startServer(truncated, done);
  await assert.rejects(refreshGrant({ origin: server.url }, { refresh_token: 'r', client_id: 'c' }), ConnectionError);
  assert.equal(server.heard.length, 1);
});
