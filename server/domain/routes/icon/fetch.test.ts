import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { openHttp } from '#server/platform/connect/http.ts';
import { createResolver, type ResolveFamily } from '#server/platform/http-out/resolver.ts';
import { egressSettings } from '#server/platform/http-out/settings.ts';
import { listen, loopback, toLoopback } from '#server/platform/http-out/upstream.fixture.ts';
import { askForIcon } from './fetch.ts';
import { png } from './pictures.fixture.ts';

// What a host may answer, with real sockets. 127.0.0.1 is open here as an operator may open it; every other address is as in production.
const who = { tenant: 't1', space: 'live' };
const http = openHttp({ resolver: createResolver({ settings: loopback, resolve: toLoopback }) });
test.after(() => http.close());
const send = http.request;
const icon = png();

async function host(answer: RequestListener) {
  const seen: string[] = [];
  const port = await listen(
    createServer((req, res) => {
      seen.push(req.url ?? '');
      answer(req, res);
    }),
  );
  return { origin: `http://127.0.0.1:${port}`, port, seen };
}
const only =
  (path: string, answer: RequestListener): RequestListener =>
  (req, res) =>
    req.url === path ? answer(req, res) : res.writeHead(404).end('<h1>not here</h1>');

test('an icon is taken for its bytes, whatever the answer calls it', async () => {
  for (const type of ['image/png', 'text/html', 'image/svg+xml', undefined]) {
    const { origin } = await host((_, res) => res.writeHead(200, type ? { 'content-type': type } : {}).end(icon));
    assert.deepEqual(await askForIcon(send, origin, who), {
      outcome: 'found',
      url: `${origin}/favicon.ico`,
      image: { type: 'image/png', bytes: icon },
    });
  }
});

test('an SVG or a page that calls itself PNG is no icon, and neither is an error that carries one', async () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
  const asPng = await host((_, res) => res.writeHead(200, { 'content-type': 'image/png' }).end(svg));
  assert.deepEqual(await askForIcon(send, asPng.origin, who), { outcome: 'none' });
  assert.deepEqual(asPng.seen, ['/favicon.ico', '/favicon.png']);
  const failing = await host((_, res) => res.writeHead(500, { 'content-type': 'image/png' }).end(icon));
  assert.deepEqual(await askForIcon(send, failing.origin, who), { outcome: 'none' });
});

test('33 KiB are too many, and the other path is still asked', async () => {
  const long = await host((req, res) => res.end(req.url === '/favicon.ico' ? Buffer.concat([icon, Buffer.alloc(33 * 1024)]) : icon));
  const asked = await askForIcon(send, long.origin, who);
  assert.deepEqual([asked.outcome, asked.url], ['found', `${long.origin}/favicon.png`]);
});

test('a packed answer is not unpacked, however little it weighs', async () => {
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
  assert.ok(bomb.length > 32 * 1024);
  const small = gzipSync(icon);
  for (const body of [bomb, small]) {
    const before = process.memoryUsage().rss;
    const { origin } = await host((req, res) => {
      assert.equal(req.headers['accept-encoding'], 'identity');
      res.writeHead(200, { 'content-type': 'image/png', 'content-encoding': 'gzip' }).end(body);
    });
    assert.deepEqual(await askForIcon(send, origin, who), { outcome: 'none' });
    assert.ok(process.memoryUsage().rss - before < 48 * 1024 * 1024);
  }
  const claimed = await host((_, res) => res.writeHead(200, { 'content-encoding': 'br' }).end(icon));
  assert.deepEqual(await askForIcon(send, claimed.origin, who), { outcome: 'none' });
});

test('a host that drips for ever is left, and hung up on, after the time that all of its answers have together', async () => {
  const hungUp = Promise.withResolvers<void>();
  const { origin } = await host((_, res) => {
    res.write(icon.subarray(0, 8));
    const drip = setInterval(() => res.write('x'), 30);
    res.on('close', () => {
      clearInterval(drip);
      hungUp.resolve();
    });
  });
  assert.deepEqual(await askForIcon(send, origin, who, 250), { outcome: 'silent' });
  await hungUp.promise; // or the test hangs as the caller would
  const loop = await host((req, res) => void setTimeout(() => res.writeHead(302, { location: req.url }).end(), 120));
  assert.equal((await askForIcon(send, loop.origin, who, 200)).outcome, 'silent');
});

test('three redirects are followed, a fourth is not', async () => {
  const far = await host(only('/3', (_, res) => res.end(icon)));
  const step = await host((req, res) => {
    const n = Number(/^\/(\d)$/.exec(req.url ?? '')?.[1] ?? 0);
    res.writeHead(302, { location: n === 2 ? `${far.origin}/3#x` : `/${n + 1}` }).end();
  });
  assert.equal((await askForIcon(send, step.origin, who)).outcome, 'found');
  assert.deepEqual([step.seen, far.seen], [['/favicon.ico', '/1', '/2'], ['/3']]);
  const endless = await host((_, res) => res.writeHead(302, { location: '/again' }).end());
  assert.deepEqual(await askForIcon(send, endless.origin, who), { outcome: 'none' });
  assert.equal(endless.seen.length, 8, 'four requests for each of two paths');
});

test('no redirect leads to an address the proxy may not call, in any spelling', async () => {
  let reached = 0;
  const inside = createServer((_, res) => {
    reached++;
    res.end(icon);
  });
  inside.listen(0, '127.0.0.2');
  await new Promise((resolve) => inside.once('listening', resolve));
  const { port } = inside.address() as { port: number };
  // The allow-list of this test names one address; the listener above stands on its neighbour.
  const settings = egressSettings({ privateAllowlist: [{ cidr: '127.0.0.1/32' }] });
  const narrow = openHttp({ resolver: createResolver({ settings }) }).request;
  const targets = [
    'http://169.254.169.254/latest/meta-data/',
    'https://169.254.169.254/latest/meta-data/',
    'http://metadata.google.internal/computeMetadata/v1/',
    `http://127.0.0.2:${port}/`,
    `http://2130706434:${port}/`,
    `http://0x7f.2:${port}/`,
    `http://[::ffff:127.0.0.2]:${port}/`,
    `http://u:p@127.0.0.2:${port}/`,
    'http://10.0.0.1/',
    'http://192.168.1.1/',
    'http://[::1]/',
    'http://localhost:5432/',
    'file:///etc/passwd',
    'data:image/png;base64,AAAA',
    'gopher://127.0.0.1/',
    `//127.0.0.2:${port}/`,
  ];
  for (const location of targets) {
    const { origin } = await host((_, res) => res.writeHead(302, { location }).end());
    assert.deepEqual(await askForIcon(narrow, origin, who), { outcome: 'silent' }, location);
  }
  assert.equal(reached, 0);
  inside.close();
});

test('a name that pointed outside when it was saved and inside when it is asked is not connected to', async () => {
  const { port, seen } = await host((_, res) => res.end(icon));
  let clock = 0;
  let address = '127.0.0.1';
  const resolve: ResolveFamily = async (_, family) => (family === 4 ? [{ address, ttl: 5 }] : Promise.reject(new Error('ENODATA')));
  const resolver = createResolver({ settings: loopback, resolve, now: () => clock });
  const rebinding = openHttp({ resolver }).request;
  assert.equal((await resolver.lookup('icons.example', port)).ok, true, 'as it was saved');
  for (address of ['169.254.169.254', '10.0.0.1', '127.0.0.1:80']) {
    clock += 6_000;
    assert.deepEqual(await askForIcon(rebinding, `http://icons.example:${port}`, who), { outcome: 'silent' });
  }
  assert.deepEqual(seen, []);
  address = '127.0.0.1';
  clock += 6_000;
  assert.equal((await askForIcon(rebinding, `http://icons.example:${port}`, who)).outcome, 'found');
});

test('a host that is not there, or breaks the connection, is silent; one that answers badly is asked at the next path', async () => {
  const { origin } = await host((req) => req.socket.destroy());
  assert.equal((await askForIcon(send, origin, who)).outcome, 'silent');
  assert.equal((await askForIcon(send, 'http://127.0.0.1:9', who)).outcome, 'silent');
});
