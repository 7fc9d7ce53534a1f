import assert from 'node:assert/strict';
import { createServer as createHttp } from 'node:http';
import { createServer as createTcp } from 'node:net';
import test from 'node:test';
import { until } from '#server/testing/until.ts';
import { createResolver, type ResolveFamily } from './resolver.ts';
import { egressSettings } from './settings.ts';
import { call, keyOf, listen, loopback, poolsOf, raw, toLoopback } from './upstream.fixture.ts';
import { createUpstreamPools } from './upstream-pool.ts';

test('hostile answers are told apart, and none of them reaches the next call on that socket', async () => {
  const table: [string, string | Buffer, 'end' | 'keep' | 'reset', string][] = [
    ['no HTTP at all', 'SSH-2.0-OpenSSH_9.2\r\n', 'keep', 'upstream_protocol_error'],
    ['HTTP/0.9', '<html>hello</html>', 'end', 'upstream_protocol_error'],
    [
      'both lengths',
      'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      'keep',
      'upstream_protocol_error',
    ],
    ['two different lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello', 'keep', 'upstream_protocol_error'],
    ['negative length', 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n', 'keep', 'upstream_protocol_error'],
    ['bad chunk size', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n', 'keep', 'upstream_protocol_error'],
    ['NUL in a header', 'HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 0\r\n\r\n', 'keep', 'upstream_protocol_error'],
    ['unasked upgrade', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n', 'keep', 'upstream_protocol_error'],
    [
      'header block over 64 KiB',
      `HTTP/1.1 200 OK\r\n${'X-A: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n'.repeat(2200)}\r\n`,
      'keep',
      'upstream_protocol_error',
    ],
    ['closed without a byte', '', 'end', 'upstream_unreachable'],
    ['reset without a byte', '', 'reset', 'upstream_unreachable'],
    ['half a head', 'HTTP/1.1 200 OK\r\nContent-', 'end', 'upstream_unreachable'],
    ['shorter than it said', 'HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello', 'end', 'upstream_unreachable'],
    ['reset inside a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n50\r\nhello', 'reset', 'upstream_unreachable'],
  ];
  for (const [name, answer, then, type] of table) {
    const pools = poolsOf();
    const port = await listen(raw(answer, then));
    const outcome = await call(pools, keyOf(port));
    assert.equal(outcome.fault?.type, type, name);
    assert.doesNotMatch(outcome.fault?.message ?? '', /ECONN|socket|:\d{4,5}/, name);
  }
});

test('bytes after the end of a response never become the next response', async () => {
  const port = await listen(
    raw('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison', 'keep'),
  );
  const pools = poolsOf();
  for (let i = 0; i < 3; i++) {
    const outcome = await call(pools, keyOf(port));
    assert.notEqual(outcome.body, 'poison');
  }
});

test('a body where there can be none, sent late, never becomes the answer to the next call', async () => {
  for (const [method, head] of [
    ['HEAD', '200 OK\r\nContent-Length: 45'],
    ['DELETE', '204 No Content\r\nContent-Length: 45'],
  ] as const) {
    const server = createTcp((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (bytes: Buffer) => {
        const own = () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nown');
        if (!bytes.includes(`${method} /`)) return void setTimeout(own, 40);
        socket.write(`HTTP/1.1 ${head}\r\n\r\n`);
        setTimeout(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison'), 15);
      });
    });
    const [pools, key] = [poolsOf({ connections: 1 }), keyOf(await listen(server))];
    const both = await Promise.all([call(pools, key, { method }), call(pools, key)]);
    assert.deepEqual([both[0].body, both[1].body], ['', 'own'], method);
  }
});

test('an upstream that takes no body with GET takes none of it for a request whose answer the next call gets', async () => {
  const server = createTcp((socket) => {
    socket.on('error', () => undefined);
    let rest = '';
    socket.on('data', (bytes: Buffer) => {
      rest += bytes.toString('latin1');
      for (let end = rest.indexOf('\r\n\r\n'); end >= 0; end = rest.indexOf('\r\n\r\n')) {
        const path = /^\w+ (\S+)/.exec(rest)?.[1] ?? '';
        rest = rest.slice(end + 4);
        // The answer to what was smuggled comes a moment later, as one that was worked on would.
        setTimeout(() => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${path.length}\r\n\r\n${path}`), path === '/admin' ? 15 : 1);
      }
    });
  });
  const [pools, key] = [poolsOf({ connections: 1 }), keyOf(await listen(server))];
  for (const method of ['GET', 'DELETE', 'OPTIONS']) {
    const smuggled = Buffer.from('GET /admin HTTP/1.1\r\nHost: a\r\n\r\n');
    const both = await Promise.all([call(pools, key, { method, path: '/first', body: smuggled }), call(pools, key, { path: '/second' })]);
    assert.deepEqual([both[0].body, both[1].body], ['/first', '/second'], method);
  }
});

test('a closed port and a name without address are unreachable in the connect phase, an inside address is not allowed', async () => {
  const server = createTcp();
  const port = await listen(server);
  server.close();
  const refused = await call(poolsOf(), keyOf(port));
  assert.deepEqual([refused.fault?.type, refused.fault?.phase], ['upstream_unreachable', 'connect']);
  const nowhere = poolsOf({ resolver: createResolver({ settings: loopback, resolve: () => Promise.reject(new Error('ENOTFOUND')) }) });
  assert.equal((await call(nowhere, keyOf(443, { host: 'gone.example', scheme: 'https' }))).fault?.type, 'upstream_unreachable');
  const strict = poolsOf({ resolver: createResolver({ settings: egressSettings(), resolve: toLoopback }) });
  assert.equal((await call(strict, keyOf(443, { host: 'inside.example', scheme: 'https' }))).fault?.type, 'upstream_not_allowed');
  assert.equal((await call(strict, keyOf(80, { host: '127.0.0.1' }))).fault?.type, 'upstream_not_allowed');
});

test('every new connection asks again: a name that moves inside between calls is refused (rebinding)', async () => {
  let hits = 0;
  const port = await listen(
    createHttp((_, res) => {
      hits += 1;
      res.setHeader('connection', 'close').end('ok');
    }),
  );
  const settings = egressSettings({ privateAllowlist: [{ cidr: '127.0.0.1/32' }] });
  const answers = ['127.0.0.1', '127.0.0.2', '127.0.0.1'];
  const resolve: ResolveFamily = async (_, family) =>
    family === 4 ? [{ address: answers.shift() as string, ttl: 0 }] : Promise.reject(new Error('ENODATA'));
  const pools = poolsOf({ resolver: createResolver({ settings, resolve }) });
  const key = keyOf(port, { host: 'rebind.example' });
  assert.equal((await call(pools, key)).body, 'ok');
  assert.equal((await call(pools, key)).fault?.type, 'upstream_not_allowed');
  assert.equal(hits, 1);
});

test('a name whose address is public may not be spoken to by http, and no byte is sent', async () => {
  const resolve: ResolveFamily = async (_, family) => (family === 4 ? [{ address: '93.184.216.34', ttl: 60 }] : []);
  const pools = poolsOf({ resolver: createResolver({ settings: loopback, resolve }) });
  assert.equal((await call(pools, keyOf(80, { host: 'public.example' }))).fault?.type, 'upstream_not_allowed');
});

test('when the first address is dead the second of the same answer is used', async () => {
  const port = await listen(createHttp((_, res) => res.end('alive')));
  const resolve: ResolveFamily = async (_, family) =>
    family === 4
      ? [
          { address: '127.0.0.9', ttl: 60 },
          { address: '127.0.0.1', ttl: 60 },
        ]
      : [];
  const pools = poolsOf({ resolver: createResolver({ settings: loopback, resolve }) });
  assert.equal((await call(pools, keyOf(port, { host: 'two.example' }))).body, 'alive');
});

test('calls of one tenant share kept-alive sockets; tenants, spaces and TLS identities never do', async () => {
  const seen = new Set<number>();
  const port = await listen(
    createHttp((req, res) => {
      seen.add(req.socket.remotePort as number);
      res.end('x');
    }),
  );
  const pools = poolsOf();
  for (let i = 0; i < 5; i++) await call(pools, keyOf(port));
  assert.equal(seen.size, 1);
  await call(pools, keyOf(port, { tenant: 't2' }));
  await call(pools, keyOf(port, { space: 'test' }));
  await call(pools, keyOf(port, { identity: 'cert:1' }));
  assert.equal(seen.size, 4);
  assert.equal(pools.size, 4);
});

test('a stale kept-alive socket is reported as reused, a first use is not', async () => {
  let calls = 0;
  const port = await listen(
    createTcp((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', () => {
        calls += 1;
        if (calls === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
        else socket.resetAndDestroy();
      });
    }),
  );
  const pools = poolsOf();
  assert.equal((await call(pools, keyOf(port))).body, 'ok');
  const stale = await call(pools, keyOf(port), { method: 'POST', body: Buffer.from('x') });
  assert.deepEqual([stale.fault?.type, stale.fault?.phase, stale.fault?.reused], ['upstream_unreachable', 'exchange', true]);
  const fresh = await call(pools, keyOf(port), { method: 'POST', body: Buffer.from('x') });
  assert.deepEqual([fresh.fault?.type, fresh.fault?.reused], ['upstream_unreachable', false]);
});

test('at most the configured sockets are opened, the rest waits its turn', async () => {
  let now = 0;
  let most = 0;
  const port = await listen(
    createHttp((_, res) => {
      most = Math.max(most, ++now);
      setTimeout(() => res.end('x', () => now--), 20);
    }),
  );
  const pools = poolsOf({ connections: 3 });
  await Promise.all(Array.from({ length: 12 }, () => call(pools, keyOf(port))));
  assert.equal(most, 3);
});

test('an unused pool is closed, one with a running call is not', async () => {
  let finish = () => {};
  const port = await listen(
    createHttp((req, res) => {
      if (req.url === '/slow') finish = () => res.end('slow');
      else res.end('x');
    }),
  );
  const pools = poolsOf({ idleMs: 60 });
  const slow = call(pools, keyOf(port), { path: '/slow' });
  await call(pools, keyOf(port, { tenant: 't2' }));
  await until(() => pools.size === 1);
  finish();
  assert.equal((await slow).body, 'slow');
});

test('the request target goes out byte for byte', async () => {
  const port = await listen(createHttp((req, res) => res.end(req.url)));
  const target = '/a%2Fb//c/../%7e;x?q=%zz&r=a+b';
  assert.equal((await call(poolsOf(), keyOf(port), { path: target })).body, target);
});

test('a websocket upgrade hands over the socket, any other answer comes back as a response', async () => {
  const server = createHttp((_, res) => res.writeHead(403).end('no'));
  server.on('upgrade', (req, socket) => {
    if (req.url === '/refused') return socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno');
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n');
    socket.on('data', (chunk) => socket.end(chunk));
  });
  const port = await listen(server);
  const pools = poolsOf();
  const upgrade = (path: string) =>
    new Promise<string>((resolve, reject) => {
      pools.get(keyOf(port)).send(
        { path, method: 'GET', headers: ['Host', 'x'], upgrade: 'websocket' },
        {
          onUpgrade(_, socket, first) {
            const seen = [first];
            socket.on('data', (chunk: Buffer) => resolve(`101 ${Buffer.concat([...seen, chunk])}`));
            socket.write('ping');
          },
          onHead: (status) => resolve(`${status}`),
          onData() {},
          onEnd() {},
          onFault: reject,
        },
      );
    });
  assert.equal(await upgrade('/'), '101 ping');
  assert.equal(await upgrade('/refused'), '403');
});

test('after close nothing new starts', async () => {
  const pools = createUpstreamPools({ resolver: createResolver({ settings: loopback }) });
  await pools.close();
  assert.throws(() => pools.get(keyOf(80)), { type: 'aborted' });
});
