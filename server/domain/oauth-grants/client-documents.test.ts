import assert from 'node:assert/strict';
import test from 'node:test';
import { freePorts } from '#scripts/ports.ts';
import { clientUrlProblem } from '#server/domain/oauth-clients/client-url.shared.ts';
import { egress, publicEgress } from '#server/platform/egress.ts';
import { checkAddress } from '#server/platform/http-out/guard.ts';
import { createResolver } from '#server/platform/http-out/resolver.ts';
import { egressSettings } from '#server/platform/http-out/settings.ts';
import { testDatabase } from '#server/testing/database.ts';
import { HOST, startDocuments } from './client-documents.fixture.ts';
import { createDocumentSource, DocumentFault, readDocument } from './client-documents.ts';

await testDatabase({ UPSTREAM_PRIVATE_ALLOWLIST: '127.0.0.1/32,10.0.0.0/8', DEMO_UPSTREAM: 'https://demo.example.org' });
const start = new Date();
const later = (seconds: number) => new Date(start.getTime() + seconds * 1000);
const problemOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'accepted',
    (error: unknown) => (error instanceof DocumentFault ? error.message : `not a DocumentFault: ${error}`),
  );

/** Nothing of it says what the host did. */
const NO_DOCUMENT =
  /^[\w.:-]+ gave no document that can be used\. It must answer with status 200 and a JSON object of at most 10 KiB, within 5 seconds, /;

test('only the canonical https address of a path on a public name can be a client ID', () => {
  const good = [
    'https://app.example.org/client.json',
    'https://app.example.org:8443/a/b',
    'https://app.example.org/a/',
    'https://app.example.org/@acme/client.json',
    "https://app.example.org/a:b;c=d,e!$&'()*+~/client.json",
    'https://app.example.org/caf%C3%A9/client.json',
    'https://app.example.org//a/..b/...',
    'https://xn--bcher-kva.example/c',
  ];
  for (const url of good) assert.equal(clientUrlProblem(url), null, url);
  const bad: [url: string, problem: RegExp][] = [
    ['http://app.example.org/client.json', /https/],
    ['ftp://app.example.org/client.json', /https/],
    ['https://app.example.org', /path/],
    ['https://app.example.org/', /path/],
    ['https://app.example.org/c#f', /fragment/],
    ['https://app.example.org/c#', /fragment/],
    ['https://app.example.org/c?a=b', /query/],
    ['https://app.example.org/c?', /query/],
    ['https://user@app.example.org/c', /user name/],
    ['https://user:secret@app.example.org/c', /user name/],
    ['https://@app.example.org/c', /user name/],
    ['https://app.example.org@evil.example/c', /user name/],
    ['https://app.example.org/a/../c', /"\.\."/],
    ['https://app.example.org/./c', /"\."/],
    ['https://app.example.org/a/..', /"\.\."/],
    ['https://app.example.org/%2e%2e/c', /"\.\."/],
    ['https://app.example.org/a%2f..%2fc', /encoded slash/],
    ['https://app.example.org/a%2Fc', /encoded slash/],
    ['https://app.example.org/a%5cc', /backslash/],
    ['https://app.example.org\\c', /backslash/],
    ['https://app.example.org/%zz', /two hexadecimal digits/],
    ['https://app.example.org/a%00b', /control character/],
    ['https://app.example.org/a"b', /percent-encoded/],
    ['https://app.example.org:443/c', /:443/],
    ['https://app.example.org:0/c', /port/],
    ['https://app.example.org:08443/c', /port/],
    ['https://app.example.org:/c', /port/],
    ['https://APP.example.org/c', /lower case/],
    ['HTTPS://app.example.org/c', /lower case/],
    ['https://b\u00fccher.example/c', /punycode/],
    ['https://app.example.org/\u00fc', /percent-encode/],
    ['https://app.example.org./c', /host name/],
    ['https://app..example.org/c', /host name/],
    ['https:///c', /no host/],
    ['https://', /no host/],
    ['https:app.example.org/c', /https:\/\//],
    ['https://app.example.org/ c', /space/],
    ['https://app.example.org/c\n', /control character/],
    ['https://app.exam\tple.org/c', /control character/],
    ['https://127.0.0.1/c', /domain name/],
    ['https://2130706433/c', /domain name/],
    ['https://0x7f.1/c', /domain name/],
    ['https://[::1]/c', /domain name/],
    ['https://[2606:4700::1111]:8443/c', /domain name/],
    ['https://127.0.0.1./c', /host/],
    ['https://localhost/c', /domain name/],
    ...['localhost.', 'foo.localhost', 'foo.localhost.:26443', 'printer.local', 'db.internal', 'intranet.'].map(
      (host): [string, RegExp] => [`https://${host}/c`, /domain name|dot/],
    ),
    [`https://app.example.org/${'x'.repeat(512)}`, /512 characters/],
  ];
  for (const [url, problem] of bad) assert.match(clientUrlProblem(url) ?? 'accepted', problem, url);
});

test('a document must be about its own address, and of a public client', () => {
  const url = 'https://app.example.org/c.json';
  const good = { client_id: url, client_name: ' App ', redirect_uris: ['https://APP.example.org/cb', 'http://localhost:3118/callback'] };
  assert.deepEqual(readDocument({ ...good, logo_uri: 'https://x.example/a.png', token_endpoint_auth_method: 'none' }, url), {
    client_id: url,
    name: 'App',
    redirect_uris: ['https://app.example.org/cb', 'http://localhost:3118/callback'],
  });
  const bad: [more: object, problem: RegExp][] = [
    [{ client_id: `${url}/` }, /another client_id/],
    [{ client_id: 'https://APP.example.org/c.json' }, /another client_id/],
    [{ client_id: undefined }, /another client_id/],
    [{ client_name: undefined }, /client_name/],
    [{ client_name: 'x'.repeat(101) }, /client_name/],
    [{ client_name: 'a\u202eb' }, /client_name/],
    [{ client_name: 'a\nb' }, /client_name/],
    [{ redirect_uris: undefined }, /redirect_uris/],
    [{ redirect_uris: [] }, /redirect_uris/],
    [{ redirect_uris: Array.from({ length: 21 }, (_, i) => `https://app.example.org/${i}`) }, /redirect_uris/],
    [{ redirect_uris: ['http://app.example.org/cb'] }, /http is only for/],
    [{ redirect_uris: ['javascript:alert(1)'] }, /javascript/],
    [{ redirect_uris: ['https://*.example.org/cb'] }, /Wildcards/],
    [{ redirect_uris: [7] }, /redirect_uris/],
    [{ client_secret: 'x' }, /client secret/],
    [{ client_secret_expires_at: 0 }, /client secret/],
    [{ grant_types: ['client_credentials'] }, /authorization code/],
    [{ response_types: ['token'] }, /authorization code/],
    ...['client_secret_basic', 'client_secret_post', 'client_secret_jwt', 'private_key_jwt', 'tls_client_auth', 7].map(
      (token_endpoint_auth_method): [object, RegExp] => [{ token_endpoint_auth_method }, /must be none/],
    ),
  ];
  for (const [more, problem] of bad)
    assert.throws(() => readDocument({ ...good, ...more }, url), { name: 'DocumentFault', message: problem }, JSON.stringify(more));
});

test('what a host answers but the document itself is refused with its reason', async () => {
  const json = { 'content-type': 'application/json' };
  const { origin, source, document } = await startDocuments((req, res) => {
    const body = JSON.stringify(document(req.url ?? ''));
    switch (req.url) {
      case '/redirect':
        return void res.writeHead(302, { location: '/good' }).end();
      case '/html':
        return void res.writeHead(200, { 'content-type': 'text/html' }).end(body);
      case '/long':
        return void res.writeHead(200, json).end(body + ' '.repeat(10 * 1024));
      case '/exact':
        return void res.writeHead(200, json).end(body + ' '.repeat(10 * 1024 - body.length));
      case '/endless':
        res.writeHead(200, json);
        return void res.write('{"client_id":'.padEnd(20_000));
      case '/list':
        return void res.writeHead(200, json).end('[]');
      case '/broken':
        return void res.writeHead(200, json).end('{"client_id"');
      case '/gzip':
        return void res.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(Buffer.from([31, 139, 8]));
      case '/gone':
        return void res.writeHead(410, json).end(body);
      case '/cut':
        return void res.destroy();
      case '/other':
        return void res.writeHead(200, json).end(JSON.stringify(document('/good')));
    }
    res.writeHead(200, { 'content-type': 'application/vnd.client+json; charset=utf-8' }).end(body);
  });
  const documents = source();
  for (const path of ['/good', '/exact']) assert.equal((await documents.documentOf(`${origin}${path}`, start)).name, 'Example app', path);
  const bad: [path: string, problem: RegExp][] = [
    ['/redirect', NO_DOCUMENT],
    ['/html', NO_DOCUMENT],
    ['/long', NO_DOCUMENT],
    ['/endless', NO_DOCUMENT],
    ['/list', NO_DOCUMENT],
    ['/broken', NO_DOCUMENT],
    ['/gzip', NO_DOCUMENT],
    ['/gone', NO_DOCUMENT],
    ['/cut', NO_DOCUMENT],
    ['/other', /another client_id/],
  ];
  for (const [path, problem] of bad) assert.match(await problemOf(documents.documentOf(`${origin}${path}`, start)), problem, path);
});

test('no address inside is called, not even when its name moves there after it was good', async () => {
  let address = '127.0.0.1';
  const inside = async (_: string, family: 4 | 6) => {
    if (family !== 4) throw new Error('ENODATA');
    return [{ address, ttl: 0 }];
  };
  const guarded = createDocumentSource(createResolver({ settings: egressSettings(), resolve: inside as never }));
  for (address of ['127.0.0.1', '10.0.0.1', '169.254.169.254', '100.64.0.1', '0.0.0.0'])
    assert.match(
      await problemOf(guarded.documentOf(`https://h${address.replaceAll('.', '-')}.example.org/c.json`, start)),
      NO_DOCUMENT,
      address,
    );
  address = '127.0.0.1';
  const { origin, asked, documents, document, source } = await startDocuments(undefined, inside as never);
  documents.set('/c.json', document('/c.json'));
  const moving = source();
  await moving.documentOf(`${origin}/c.json`, start);
  address = '169.254.169.254';
  assert.match(await problemOf(moving.documentOf(`${origin}/c.json`, later(301))), NO_DOCUMENT);
  assert.equal(asked.length, 1);
});

test('what the operator opened for upstreams is not opened for documents', () => {
  for (const address of ['127.0.0.1', '10.0.0.1']) {
    assert.equal(checkAddress(address, 443, egress().settings).ok, true, address);
    assert.equal(checkAddress(address, 443, publicEgress().settings).ok, false, address);
  }
  assert.deepEqual([egress().settings.operatorOrigins.size, publicEgress().settings.operatorOrigins.size], [1, 0]);
});

test('a closed port, a refused address and any answer that is no document read the same', async () => {
  const [closed = 0] = await freePorts(1);
  const { origin, source } = await startDocuments((_, res) => void res.writeHead(500).end());
  const documents = source();
  const at = (address: string) => problemOf(documents.documentOf(address, start)).then((text) => text.replace(/^\S+/, ''));
  assert.equal(await at(`${origin}/c`), await at(`https://${HOST}:${closed}/c`));
});

test('a document is kept as long as it says, a day at most, and a failure for ten seconds', async () => {
  let cache = '';
  let status = 200;
  const { origin, asked, document, source } = await startDocuments((req, res) => {
    res.writeHead(status, { 'content-type': 'application/json', ...(cache && { 'cache-control': cache }) });
    res.end(JSON.stringify(document(req.url ?? '')));
  });
  const documents = source();
  /** Whether the document is looked at again so many seconds after. */
  const again = async (path: string, seconds: number) => {
    const before = asked.length;
    await documents.documentOf(`${origin}${path}`, later(seconds)).catch(() => undefined);
    return asked.length > before;
  };
  const cases: [header: string, kept: number, over: number][] = [
    ['', 299, 300],
    ['max-age=60', 59, 60],
    ['public, max-age="3600"', 3_599, 3_600],
    ['max-age=999999999', 86_399, 86_400],
    ['max-age=0', 9, 10],
    ['no-store', 9, 10],
  ];
  for (const [header, kept, over] of cases) {
    const path = `/${encodeURIComponent(header || 'none').replaceAll('%', '_')}`;
    cache = header;
    assert.equal(await again(path, 0), true, header);
    assert.equal(await again(path, kept), false, header);
    assert.equal(await again(path, over), true, header);
  }
  status = 500;
  assert.equal(await again('/failing', 0), true);
  status = 200;
  assert.equal(await again('/failing', 9), false);
  assert.equal(await again('/failing', 10), true);
});

test('a slow host is given up, and only so many are looked up at once', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { origin, asked, source } = await startDocuments((_, res) => {
    res.writeHead(200, { 'content-type': 'application/json' });
    res.write('{');
  });
  const documents = source();
  const looks = Array.from({ length: 20 }, (_, i) => problemOf(documents.documentOf(`${origin}/${i}`, start)));
  const shared = problemOf(documents.documentOf(`${origin}/0`, start));
  assert.match(await problemOf(documents.documentOf(`${origin}/one-more`, start)), /Too many applications/);
  t.mock.timers.tick(5_000);
  for (const problem of await Promise.all([...looks, shared])) assert.match(problem, NO_DOCUMENT);
  assert.ok(asked.length <= 20);
  assert.equal(new URL(origin).hostname, HOST);
});
