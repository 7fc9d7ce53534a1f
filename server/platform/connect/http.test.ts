import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import test from 'node:test';
import { createResolver } from '../http-out/resolver.ts';
import { egressSettings } from '../http-out/settings.ts';
import { listen, loopback, toLoopback } from '../http-out/upstream.fixture.ts';
import { openHttp } from './http.ts';

const http = openHttp({ resolver: createResolver({ settings: loopback, resolve: toLoopback }) });
test.after(() => http.close());
const who = { tenant: 't1', space: 'live' };

async function host(answer: RequestListener) {
  const seen: { url: string; authorization: string | undefined }[] = [];
  const port = await listen(
    createServer((req, res) => {
      seen.push({ url: req.url ?? '', authorization: req.headers.authorization });
      answer(req, res);
    }),
  );
  return { origin: `http://127.0.0.1:${port}`, seen };
}
const redirecting = (location: string, status = 302) => host((_, res) => res.writeHead(status, { location }).end());

test('a redirect is an answer unless redirects are asked for, and never followed by a request with a body', async () => {
  const end = await host((_, res) => res.end('here'));
  const { origin } = await redirecting(end.origin);
  assert.equal((await http.request({ url: origin, ...who })).status, 302);
  assert.equal((await http.request({ url: origin, ...who, method: 'POST', body: 'secret', redirects: 3 })).status, 302);
  assert.equal((await http.request({ url: origin, ...who, redirects: 1 })).body.toString(), 'here');
  assert.equal(end.seen.length, 1);
});

test('credentials stay with the origin they are for', async () => {
  const end = await host((req, res) => (req.url === '/' ? res.writeHead(307, { location: '/end' }).end() : res.end()));
  const { origin, seen } = await redirecting(end.origin);
  await http.request({ url: origin, ...who, headers: { Authorization: 'Bearer secret' }, redirects: 3 });
  assert.deepEqual(
    [...seen, ...end.seen].map(({ authorization }) => authorization),
    ['Bearer secret', undefined, undefined],
  );
  await http.request({ url: end.origin, ...who, headers: { authorization: 'Bearer secret' }, redirects: 3 });
  assert.deepEqual(
    end.seen.slice(2).map(({ url, authorization }) => [url, authorization]),
    [
      ['/', 'Bearer secret'],
      ['/end', 'Bearer secret'],
    ],
  );
});

test('no hop leads inside, and a loop ends', async () => {
  const narrow = openHttp({ resolver: createResolver({ settings: egressSettings({ privateAllowlist: [{ cidr: '127.0.0.1/32' }] }) }) });
  for (const inside of [
    'http://169.254.169.254/',
    'http://10.0.0.5/',
    'http://[::ffff:10.0.0.1]/',
    'http://127.0.0.2/',
    'file:///etc/passwd',
  ]) {
    const { origin } = await redirecting(inside);
    await assert.rejects(narrow.request({ url: origin, ...who, redirects: 3 }), { type: 'upstream_not_allowed' }, inside);
  }
  await narrow.close();
  const loop = await redirecting('/again', 301);
  assert.equal((await http.request({ url: loop.origin, ...who, redirects: 3 })).status, 301);
  assert.equal(loop.seen.length, 4);
});
