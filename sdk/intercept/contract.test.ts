import assert from 'node:assert/strict';
import test from 'node:test';
import { isCredentialHeader as judged } from '#server/domain/opportunities/observations/rules.shared.ts';
import { apiKey } from '../credential.ts';
import { answer, type Heard, type Reply, startServer } from '../hostile-server.fixture.ts';
import { createIntercept } from './intercept.ts';
import { createManifest } from './manifest.ts';
import { createObserver, isCredentialHeader } from './observations.ts';

// How the client asks and reports, against a service that says what the test wants (interface rule 34 §2, §3).

const credential = apiKey('tk_live_aaaaaaaaaaaa_secret');
const listed = {
  host: 'api.acme.test',
  base_path: '/',
  slug: 'acme',
  route_id: 'r',
  requires_clients: false,
  allowed_methods: null,
  updated_at: null,
};
const manifestOf = (routes: unknown, ttl_seconds = 60): Reply =>
  answer(200, { data: { version: 'sha256:1', ttl_seconds, environment: 'production', sandbox: false, routes } }, { etag: 'W/"sha256:1"' });
const unchanged: Reply = (res) => void res.writeHead(304, { etag: 'W/"sha256:1"' }).end();

async function polling(...replies: Reply[]) {
  const server = await startServer(...replies);
  const clock = { ms: 0 };
  const warnings: string[] = [];
  const manifest = createManifest({
    ...{ base_url: `${server.url}/v1`, credential, fetch, now: () => clock.ms },
    warn: (message) => warnings.push(message),
  });
  /** What is known some seconds later; what is two lives old is waited for. */
  const after = async (seconds: number) => {
    clock.ms += seconds * 1000;
    const before = server.heard.length;
    const { routes } = await manifest.known();
    return { slugs: routes.map(({ slug }) => slug), asked: server.heard.length - before };
  };
  return { server, manifest, after, warnings };
}

test('the manifest is asked for once a minute with its tag, by many calls at once as by one', async () => {
  const { server, manifest } = await polling(manifestOf([listed]), unchanged);
  const all = await Promise.all(Array.from({ length: 20 }, () => manifest.known()));
  assert.ok(all.every(({ routes, environment }) => routes[0]?.slug === 'acme' && environment === 'production'));
  assert.equal(server.heard.length, 1);
  assert.equal(await manifest.refresh(), true);
  assert.equal(server.heard[1]?.headers['if-none-match'], 'W/"sha256:1"');
  assert.deepEqual((await manifest.known()).routes, [listed], '304 changes nothing');
  assert.equal(server.heard.length, 2);
});

test('a refused caller has no manifest, is told once, and asks again after ten lives', async () => {
  const { after, warnings } = await polling(manifestOf([listed]), answer(403, { error: { type: 'forbidden', message: 'no' } }));
  assert.deepEqual((await after(0)).slugs, ['acme']);
  assert.deepEqual((await after(121)).slugs, []);
  assert.equal((await after(599)).asked, 0);
  assert.equal((await after(2)).asked, 1);
  assert.equal(warnings.length, 1);
});

test('a failing service or an answer that is no manifest keeps what is known, and is asked less and less', async () => {
  const { after } = await polling(manifestOf([listed]), answer(503, {}), answer(200, { data: { routes: 'all' } }), (res) => res.destroy());
  await after(0);
  for (const seconds of [121, 121, 121]) assert.deepEqual(await after(seconds), { slugs: ['acme'], asked: 1 });
  assert.equal((await after(239)).asked, 0, 'after the third failure the wait is four lives');
  assert.equal((await after(2)).asked, 1);
});

test('a manifest of another shape makes no decision', async () => {
  const { manifest } = await polling(manifestOf([null, 3, { host: 'x' }, { ...listed, base_path: 'no slash' }, listed]));
  assert.deepEqual((await manifest.known()).routes, [listed]);
});

test('a refusal that carries the upstream’s status is the upstream’s, and nothing is looked up for it', async () => {
  let manifests = 0;
  const service = await startServer((res, heard: Heard) => {
    if (heard.url.includes('intercept-manifest')) {
      manifests++;
      return manifestOf([listed])(res, heard);
    }
    const missing = heard.url.endsWith('/gone');
    answer(404, { error: { type: 'route_not_found' } }, missing ? {} : { 'x-svc-upstream-status': '404' })(res, heard);
  });
  const intercept = createIntercept({
    ...{ base_url: `${service.url}/v1`, proxy_url: `${service.url}/p/acme`, credential, env: {}, observe_uncovered: false },
  });
  assert.equal((await intercept.fetch('https://api.acme.test/kept')).status, 404);
  assert.equal(manifests, 1);
  // The service's own: one look, and with the same answer the refusal stands.
  assert.equal((await intercept.fetch('https://api.acme.test/gone')).status, 404);
  assert.equal(manifests, 2);
  const sent = service.heard.filter(({ url }) => url.startsWith('/p/'));
  assert.deepEqual(
    sent.map(({ url, headers }) => [url, headers['x-svc-route'], headers['x-svc-environment'], headers['x-svc-client-origin']]),
    ['/kept', '/gone'].map((path) => [`/p/acme/api${path}`, 'acme', 'production', 'sdk-intercept']),
  );
});

test('through a route go no provider’s key and no header of the service that the application set', async () => {
  const service = await startServer((res, heard: Heard) =>
    heard.url.includes('intercept-manifest') ? manifestOf([listed])(res, heard) : answer(200, {})(res, heard),
  );
  const intercept = createIntercept({
    base_url: `${service.url}/v1`,
    proxy_url: `${service.url}/p/acme`,
    credential,
    env: {},
    observe_uncovered: false,
  });
  await intercept.fetch(new Request('https://api.acme.test/v1/x?y=1', { method: 'PUT', body: 'text' }), {
    headers: {
      authorization: 'Bearer own',
      'x-api-key': 'own',
      'x-acme-token': 'own',
      'x-svc-route': 'other',
      'x-svc-key': 'other',
      'x-kept': 'yes',
    },
  });
  const { headers, method, body, url } = service.heard.at(-1) as Heard;
  assert.deepEqual([method, url, body, headers['x-kept'], headers['x-svc-route']], ['PUT', '/p/acme/api/v1/x?y=1', 'text', 'yes', 'acme']);
  assert.equal(headers['x-svc-key'], 'tk_live_aaaaaaaaaaaa_secret');
  assert.ok(
    !/own|other/.test(JSON.stringify([headers.authorization, headers['x-api-key'], headers['x-acme-token'], headers['x-svc-key']])),
  );
});

test('an answer that names a promoted route makes the next call use it, and is heeded once', async () => {
  let manifests = 0;
  const service = await startServer((res, heard: Heard) => {
    if (heard.url.includes('intercept-manifest')) return manifestOf(++manifests > 1 ? [listed] : [])(res, heard);
    const other = String(heard.headers['x-svc-proxy-url']).includes('other');
    answer(200, {}, { 'x-svc-upstream-status': '200', 'x-svc-promoted-route': other ? 'elsewhere' : 'acme' })(res, heard);
  });
  const intercept = createIntercept({
    ...{ base_url: `${service.url}/v1`, proxy_url: `${service.url}/p/acme`, credential, env: {}, observe_uncovered: false },
    hosts: ['api.acme.test', 'other.acme.test'],
  });
  const url = 'https://api.acme.test/v1';
  assert.equal((await intercept.decide(url)).reason, 'no_route');
  await intercept.fetch(url);
  await intercept.refresh(); // the one under way
  assert.equal((await intercept.decide(url)).mode, 'route');
  await intercept.fetch(url);
  assert.equal(service.heard.at(-1)?.url, '/p/acme/api/v1');
  const before = manifests;
  for (let n = 0; n < 3; n++) await intercept.fetch('https://other.acme.test/v1');
  await intercept.refresh();
  assert.ok(manifests - before <= 2, 'a hint that the manifest does not follow is not asked about again');
});

test('without the service a call in transit goes direct where that was chosen, and one with an escrowed key never does', async () => {
  const direct: string[] = [];
  const intercept = createIntercept({
    ...{ base_url: 'http://127.0.0.1:1/v1', proxy_url: 'http://127.0.0.1:1/p/acme', credential, env: {} },
    hosts: ['transit.example.com', 'closed.example.com'],
    escrow: { 'escrow.example.com': 'KEY' },
    direct_when_unreachable: ['Transit.example.com', 'escrow.example.com'],
    fetch: (async (input, init) => {
      const request = new Request(input, init);
      if (request.url.startsWith('http://127.0.0.1:1/')) return fetch(request);
      direct.push(`${request.url} ${await request.text()}`);
      return new Response('ok');
    }) as typeof fetch,
  });
  const call = (host: string) => intercept.fetch(`https://${host}/v1`, { method: 'POST', body: 'once' });
  assert.equal((await call('transit.example.com')).status, 200);
  for (const host of ['closed.example.com', 'escrow.example.com']) await assert.rejects(call(host), { name: 'ConnectionError' });
  assert.deepEqual(direct, ['https://transit.example.com/v1 once']);
});

test('reports hold at most 200 names, at most 1,000 are held, 403 ends them, and none is repeated', async () => {
  const server = await startServer(answer(200, { data: {} }), answer(500, {}), answer(403, {}));
  const observer = createObserver({ base_url: `${server.url}/v1`, credential, fetch });
  const see = (n: number) =>
    observer.see(new URL(`https://h${n}.example.com/v1/deep?secret=1`), 'GET', new Headers({ 'x-api-key': 'value' }));
  for (let n = 0; n < 650; n++) see(n);
  await observer.stop();
  see(1);
  await observer.stop();
  const sizes = server.heard.map(({ body }) => (JSON.parse(body) as { observations: unknown[] }).observations.length);
  assert.deepEqual(sizes, [200, 200, 200]);
  assert.ok(server.heard.every(({ body }) => !/secret|"value"|deep/.test(body)));
  assert.match((JSON.parse(server.heard[0]?.body ?? '') as { sdk: string }).sdk, /^typescript\/\d/);
});

test('no address, no call without a credential, and no segment that could be one is reported', async () => {
  const server = await startServer(answer(200, { data: {} }));
  const observer = createObserver({ base_url: `${server.url}/v1`, credential, fetch });
  const key = new Headers({ authorization: 'x' });
  observer.see(new URL('https://10.0.0.1/v1'), 'GET', key);
  observer.see(new URL('https://[2001:db8::1]/v1'), 'GET', key);
  observer.see(new URL('https://plain.example.com/v1'), 'GET', new Headers({ accept: '*/*' }));
  for (const path of ['/bot123456:AAEsomething/send', '/sk_live_abc', '/%73k_live_abc', '/abcdefABCDEF0123456789abcdef', '/SG.abc'])
    observer.see(new URL(`https://bot.example.com${path}`), 'GET', key);
  await observer.stop();
  const { observations } = JSON.parse(server.heard[0]?.body ?? '') as {
    observations: { host: string; first_segment: string; count: number }[];
  };
  assert.deepEqual(
    observations.map(({ host, first_segment, count }) => [host, first_segment, count]),
    [['bot.example.com', '/', 5]],
  );
});

test('client and service agree on which headers carry a credential', () => {
  for (const name of [
    'authorization',
    'x-goog-api-key',
    'x-internal-auth',
    '-auth',
    'x-y-token',
    '-token',
    'cookie',
    'x_secret',
    `${'a'.repeat(60)}-auth`,
    'token',
    'x-csrf-token',
  ])
    assert.equal(isCredentialHeader(name), judged(name), name);
});
