import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import test from 'node:test';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { exchange, listen } from '../core/raw-client.fixture.ts';
import { ask, makeRoute, served, startGateway, startUpstream } from '../gateway.fixture.ts';

await testDatabase();
const running = await startGateway();
const { port } = running;
const upstream = await startUpstream((_, res) => {
  res.writeHead(418, 'I am a teapot', [
    'Content-Type',
    'text/plain',
    'X-Svc-Origin',
    'upstream-forged',
    'X-Svc-Anything',
    '1',
    'X_Svc_Origin',
    'upstream-forged',
    'Set-Cookie',
    'a=1',
    'Set-Cookie',
    'b=2',
    'Server-Timing',
    'db;dur=5',
    'Connection',
    'x-hop, close',
    'X-Hop',
    'gone',
    'Proxy-Authenticate',
    'Basic',
    'X-RateLimit-Limit',
    '7',
    'Via',
    '1.0 other',
    'ETag',
    '"x"',
    'Content-Length',
    '2',
  ]);
  res.end('no');
});
const w = await workspace();
const { text: key } = await w.key();
const { text: testKey } = await w.key('test');
await makeRoute(w, 'all', upstream.url);
await makeRoute(w, 'limited', upstream.url, {
  rate_limit_enabled: true,
  rate_limit_requests: 5,
  rate_limit_window_sec: 60,
  forward_client_ip: true,
  inject_headers_json: { 'X-Fixed': 'set', 'User-Agent': null, 'X-From': '{{vars.from}}' },
});
await makeRoute(w, 'injecting', upstream.url, {
  forward_client_ip: true,
  inject_headers_json: { 'X-Fixed': 'set', 'X-From': '{{vars.from}}' },
});
await makeRoute(w, 'reading', upstream.url, { http_method_restrictions_enabled: true, allowed_methods: ['GET'] });
await makeRoute(w, 'below', `${upstream.url}/base`);
await served(running, w);

test('connection headers, our namespace, forwarding headers and credentials stop here; the rest arrives unchanged and in order', async () => {
  const lines = [
    `Host: ${w.tenant.slug}.localhost:${port}`,
    `X-Svc-Key: ${key}`,
    `Authorization: Bearer ${key}`,
    `x-api-key: ${testKey}`,
    'X-Svc-Client-Origin: sdk-intercept',
    'X-SVC-Unknown: 1',
    'Connection: close, X-Private, Keep-Alive',
    'X-Private: gone',
    'Keep-Alive: 5',
    'TE: trailers',
    'Trailer: X-T',
    'Proxy-Authorization: Basic x',
    'Proxy-Connection: keep-alive',
    'Proxy-Features: x',
    'Proxy: http://127.0.0.1:1',
    'Upgrade: h2c',
    'Forwarded: for=1.2.3.4',
    'X-Forwarded-For: 1.2.3.4',
    'X-Forwarded-Foo: 1',
    'X-Real-IP: 1.2.3.4',
    'CF-Connecting-IP: 1.2.3.4',
    'True-Client-IP: 1.2.3.4',
    'Cookie: c=1',
    'User-Agent: probe/1',
    'If-None-Match: "e"',
    'Range: bytes=0-1',
    'Accept-Encoding: gzip',
    'X-Repeat: 1',
    'x-repeat: 2',
    'tracestate: a=b',
  ];
  const answer = await exchange(port, `GET /all HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  assert.equal(answer.status, 418);
  const { rawHeaders, headers } = upstream.seen.at(-1) ?? assert.fail();
  const names = rawHeaders.filter((_, i) => i % 2 === 0);
  assert.deepEqual(
    names.filter((n) => !['Host', 'host', 'connection', 'Connection'].includes(n)),
    ['Cookie', 'User-Agent', 'If-None-Match', 'Range', 'Accept-Encoding', 'X-Repeat', 'x-repeat', 'tracestate', 'traceparent', 'Via'],
  );
  assert.match(String(headers.traceparent), /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
});

test('a header with underscores does not pass beside one that the gateway or the route sets', async () => {
  const headers = {
    X_Fixed: 'forged',
    'X-F_rom': 'mine',
    x_from: 'forged',
    X_Forwarded_For: '1.2.3.4',
    'x-forwarded_proto': 'http',
    X_Svc_Origin: 'gateway',
    X_Real_IP: '1.2.3.4',
    Content_Length: '9',
    Transfer_Encoding: 'chunked',
    proxy_authorization: 'Basic x',
    X_API_Key: key,
    my_header: 'kept',
  };
  assert.equal((await ask(port, w.tenant.slug, '/injecting?from=here', { key, headers })).status, 418);
  const seen = upstream.seen.at(-1)?.headers ?? {};
  assert.deepEqual(
    Object.keys(seen).filter((name) => name.includes('_')),
    ['x-f_rom', 'my_header'],
  );
  assert.deepEqual([seen['x-fixed'], seen['x-from'], seen['x-forwarded-proto']], ['set', 'here', 'https']);
  // Not ours: two spellings of the caller's own header.
  await ask(port, w.tenant.slug, '/all', { key, headers: { X_Fixed: 'theirs', x_api_key: 'pk_theirs' } });
  assert.deepEqual([upstream.seen.at(-1)?.headers.x_fixed, upstream.seen.at(-1)?.headers.x_api_key], ['theirs', 'pk_theirs']);
});

test('no header leads an upstream past the methods and the path that the route allows', async () => {
  const overrides = {
    'X-HTTP-Method-Override': 'DELETE',
    X_HTTP_Method: 'DELETE',
    'X-Method-Override': 'DELETE',
    'X-Original-URL': '/admin',
    'X-Rewrite-URL': '/admin',
  };
  const arriving = async (route: string) => {
    assert.equal((await ask(port, w.tenant.slug, `/${route}`, { key, headers: overrides })).status, 418);
    return Object.keys(upstream.seen.at(-1)?.headers ?? {}).filter((name) => /method|url/.test(name));
  };
  assert.deepEqual(await arriving('reading'), []);
  assert.deepEqual(await arriving('below'), ['x-http-method-override', 'x_http_method', 'x-method-override']);
  assert.equal((await arriving('all')).length, 5, 'a route without restrictions forwards what it is sent');
});

test('foreign Authorization and x-api-key belong to the upstream', async () => {
  await ask(port, w.tenant.slug, '/all', {
    key,
    headers: {
      authorization: 'Bearer ghp_theirs',
      'x-api-key': 'pk_theirs',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    },
  });
  const { headers } = upstream.seen.at(-1) ?? assert.fail();
  assert.equal(headers.authorization, 'Bearer ghp_theirs');
  assert.equal(headers['x-api-key'], 'pk_theirs');
  assert.equal(headers.traceparent, '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01');
});

test('a credential of ours that was put into Authorization or x-api-key in any other way is none, and no upstream reads it', async () => {
  for (const authorization of [
    key,
    `Token ${key}`,
    `Bearer\t${key}`,
    `Bearer ${key},x`,
    `Negotiate   ${testKey}`,
    `AKEABCDEFGHIJKLMNOP:${'x'.repeat(40)}`,
  ]) {
    const alone = await ask(port, w.tenant.slug, '/all', { headers: { authorization } });
    assert.equal(alone.status, 401, authorization);
    assert.equal((await ask(port, w.tenant.slug, '/all', { key, headers: { authorization } })).status, 418);
    assert.equal(upstream.seen.at(-1)?.headers.authorization, undefined, authorization);
  }
  // Only keys count in x-api-key; a token of ours there was meant for us all the same.
  for (const misplaced of [`svc_live_${'a'.repeat(49)}`, `svc_test_${'a'.repeat(49)}`, `Bearer ${key}`]) {
    assert.equal((await ask(port, w.tenant.slug, '/all', { headers: { 'x-api-key': misplaced } })).status, 401, misplaced);
    assert.equal((await ask(port, w.tenant.slug, '/all', { key, headers: { 'x-api-key': misplaced } })).status, 418);
    assert.equal(upstream.seen.at(-1)?.headers['x-api-key'], undefined, misplaced);
  }
});

test('the answer comes back verbatim but for connection headers, and an upstream cannot forge the block', async () => {
  const { headers, raw, body, status } = await ask(port, w.tenant.slug, '/limited?from=here', { key });
  assert.deepEqual([status, body], [418, 'no']);
  const all = (name: string) => raw.flatMap((n, i) => (i % 2 === 0 && n.toLowerCase() === name ? [raw[i + 1]] : []));
  assert.deepEqual(all('x-svc-origin'), ['upstream']);
  assert.deepEqual(all('x-svc-anything'), []);
  assert.deepEqual(all('x_svc_origin'), []);
  assert.deepEqual(all('set-cookie'), ['a=1', 'b=2']);
  assert.deepEqual(all('x-hop'), []);
  assert.deepEqual(all('proxy-authenticate'), []);
  assert.deepEqual(all('via'), ['1.0 other', '1.1 svc-gateway']);
  assert.equal(all('server-timing')[0], 'db;dur=5');
  assert.match(all('server-timing')[1] ?? '', /^service;dur=/);
  // The upstream's own triple stays alone.
  assert.deepEqual(all('x-ratelimit-limit'), ['7']);
  assert.deepEqual(all('x-ratelimit-remaining'), []);
  assert.match(headers['x-svc-ratelimit-route'] ?? '', /^limit=5, remaining=4/);
  assert.match(headers['x-ratelimit-tenant-limit'] ?? '', /^\d+$/);
  const sent = upstream.seen.at(-1)?.headers ?? {};
  assert.equal(sent['x-fixed'], 'set');
  assert.equal(sent['x-from'], 'here');
  assert.equal(sent['user-agent'], undefined);
  assert.equal(sent['x-forwarded-for'], '127.0.0.1');
  assert.equal(sent['x-forwarded-proto'], 'https');
  assert.equal(sent['x-forwarded-host'], `${w.tenant.slug}.localhost:${port}`);
});

test('no upstream sets a cookie beyond its own host: it would reach the other workspaces and the dashboard', async () => {
  const wide = [
    'a=1; Domain=localhost',
    'b=2; path=/; DOMAIN = .LocalHost ; Secure',
    `c=3; Domain=${w.tenant.slug}.localhost; Domain=localhost`,
  ];
  const own = ['d=4; Path=/', `e=5; Domain=${w.tenant.slug}.localhost`, 'f="; Domain=localhost2"', 'g=7; Domain=upstream.example'];
  const upstream = await startUpstream((_, res) => res.writeHead(200, { 'set-cookie': [...wide, ...own] }).end());
  await makeRoute(w, 'wide', upstream.url);
  await served(running, w);
  assert.deepEqual((await ask(port, w.tenant.slug, '/wide', { key })).headers['set-cookie'], own);
});

test('an answer that can have no body goes on without the length of one: who reads it otherwise would take the next answer for it', async () => {
  const server = createServer((socket) =>
    socket.on('error', () => {}).on('data', () => socket.write('HTTP/1.1 204 No Content\r\nX-A: 1\r\nContent-Length: 5\r\n\r\n')),
  );
  await makeRoute(w, 'empty', `http://127.0.0.1:${await listen(server)}`);
  await served(running, w);
  const { status, headers } = await ask(port, w.tenant.slug, '/empty', { key });
  assert.deepEqual([status, headers['x-a'], headers['content-length']], [204, '1', undefined]);
});

test('no upstream is given the cookies of the dashboard, nor gives any, where a browser takes both for one host', async () => {
  const mirror = await startUpstream((req, res) =>
    res
      .writeHead(200, {
        // One without a name is sent back as its value alone: `svc_session=fixed`.
        'set-cookie': [
          'svc_session=fixed; Path=/',
          '__Host-svc_device=x; Secure',
          'theirs=1',
          '=svc_session=fixed',
          ' = svc_signup=x; Path=/',
        ],
        'clear-site-data': req.url?.endsWith('cache') ? '"cache"' : '"cache", "Cookies"',
      })
      .end(req.headers.cookie ?? 'none'),
  );
  await makeRoute(w, 'cookies', mirror.url);
  await served(running, w);
  const got = async (cookie: string) => ask(port, w.tenant.slug, '/cookies', { key, headers: { cookie } });
  const answer = await got('a=1; svc_session=eyJ.secret; __Host-svc_session=s;svc_signup=x; b="svc_device=2"; svc_sessions=3');
  assert.equal(answer.body, 'a=1; b="svc_device=2"; svc_sessions=3');
  assert.deepEqual(answer.headers['set-cookie'], ['theirs=1']);
  assert.equal(answer.headers['clear-site-data'], undefined, 'it would sign the person out');
  const harmless = await ask(port, w.tenant.slug, '/cookies/cache', { key });
  assert.equal(harmless.headers['clear-site-data'], '"cache"');
  assert.equal((await got('svc_session=eyJ.secret; svc_device=d')).body, 'none');
  assert.equal((await got('a=1;b=2;  c=3')).body, 'a=1;b=2;  c=3', 'others byte for byte');
});

test('a query parameter cannot add a line to an injected header', async () => {
  const before = upstream.seen.length;
  const answer = await ask(port, w.tenant.slug, '/limited?from=a%0d%0aX-Evil:%201', { key });
  assert.deepEqual([answer.status, answer.headers['x-svc-error']], [400, 'invalid_request']);
  assert.equal(upstream.seen.length, before);
});

test('a call that came through a gateway before is a loop', async () => {
  for (const via of [
    '1.1 cache, 1.1 svc-gateway',
    '1.1 SVC-Gateway',
    'HTTP/1.1  svc-gateway (x), 1.0 b',
    '1.1 svc-gateway:443,1.1 b',
    ',,\t1.1\tsvc-gateway,,',
  ]) {
    const answer = await ask(port, w.tenant.slug, '/all', { key, headers: { via } });
    assert.deepEqual([answer.status, answer.headers['x-svc-error']], [508, 'loop_detected'], via);
  }
  for (const via of ['1.1 my-svc-gateway', '1.1 svc-gateway-2', '1.1 svc-gateway.example.com'])
    assert.equal((await ask(port, w.tenant.slug, '/all', { key, headers: { via } })).status, 418, `${via} is somebody else`);
});

test('bytes of header values pass both ways as they are, and names that every object has are names like others', async () => {
  const strange = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (head) => {
      socket.write(
        Buffer.from('HTTP/1.1 200 OK\r\nX-Latin: caf\xe9\r\nX-Utf8: \xc3\xbc\r\nConstructor: x\r\n__proto__: y\r\nX-Empty:\r\n', 'latin1'),
      );
      // node's own writing of this name would take the bytes behind a length for UTF-8, and lose some.
      socket.write(`Content-Length: ${head.length}\r\nContent-Disposition: attachment; filename="\xc3\xbc.pdf"\r\n\r\n`, 'latin1');
      socket.end(head);
    });
  });
  await makeRoute(w, 'strange', `http://127.0.0.1:${await listen(strange)}`);
  await served(running, w);
  const lines = [`Host: ${w.tenant.slug}.localhost`, `X-Svc-Key: ${key}`, 'X-Latin: caf\xe9', 'X-Utf8: \xc3\xbc', 'X-Empty:'];
  const answer = await exchange(port, Buffer.from(`GET /strange HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`, 'latin1'));
  assert.deepEqual(
    ['x-latin', 'x-utf8', 'constructor', '__proto__', 'x-empty', 'content-disposition'].map(
      (name) =>
        Object.entries(answer.headers).find(([n]) => n === name)?.[1] ?? new RegExp(`\r\n${name}: *([^\r]*)`).exec(answer.head)?.[1],
    ),
    ['caf\xe9', '\xc3\xbc', 'x', 'y', '', 'attachment; filename="\xc3\xbc.pdf"'],
  );
  assert.match(answer.body, /X-Latin: caf\xe9\r\nX-Utf8: \xc3\xbc\r\nX-Empty: *\r\n/);
});

test('a response is split by nothing an upstream sends', async () => {
  const heads: [name: string, head: string][] = [
    ['two-lengths', 'Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!'],
    ['length-and-chunked', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n'],
    ['coded-transfer', 'Transfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n'],
    ['unframed-coding', 'Transfer-Encoding: gzip\r\n\r\nok'],
    ['nul', 'X-A: a\0b\r\nContent-Length: 2\r\n\r\nok'],
    ['control', 'X-A: a\x01b\r\nContent-Length: 2\r\n\r\nok'],
    ['spaced-name', 'X A: b\r\nContent-Length: 2\r\n\r\nok'],
    ['bare-return', 'X-A: a\rSet-Cookie: x=1\r\nContent-Length: 2\r\n\r\nok'],
    ['fold', 'X-A: a\r\n Set-Cookie: x=1\r\nContent-Length: 2\r\n\r\nok'],
  ];
  for (const [name, head] of heads) {
    const hostile = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\n${head}`));
    });
    await makeRoute(w, name, `http://127.0.0.1:${await listen(hostile)}`);
    await served(running, w);
    const answer = await ask(port, w.tenant.slug, `/${name}`, { key });
    assert.deepEqual(
      [answer.status, answer.headers['x-svc-error'], answer.headers['x-svc-upstream-status'], answer.headers['set-cookie']],
      [502, 'upstream_protocol_error', undefined, undefined],
      name,
    );
  }
});
