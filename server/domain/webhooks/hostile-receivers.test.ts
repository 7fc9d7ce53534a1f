import assert from 'node:assert/strict';
import { createServer as createSecureServer } from 'node:https';
import { createServer } from 'node:net';
import test from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { startDeliveries } from '#server/domain/deliveries/service.ts';
import { raise } from '#server/domain/events/service.ts';
import { generateServer } from '#server/gateway/tls-upstream.fixture.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { openHttp } from '#server/platform/connect/http.ts';
import { db } from '#server/platform/db.ts';
import { createResolver } from '#server/platform/http-out/resolver.ts';
import { egressSettings } from '#server/platform/http-out/settings.ts';
import { listen } from '#server/platform/http-out/upstream.fixture.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { webhookChannel } from './channel.ts';
import { CHANNEL } from './options.shared.ts';
import { answering, delivering, due, receiver, statesOf, webhookTo } from './receiver.fixture.ts';

await ownDatabase();

const send = (ctx: Ctx) => inTransaction(ctx, (tx) => raise(tx, ctx, [{ type: 'secret.rotated', source_id: null, data: { n: 1 } }]));
const attemptOf = (id: string) => db().webhook_attempts.findFirst({ where: { webhook_id: id } });

/** A server that answers every connection with these bytes, then does what it is told. */
const rawServer = (bytes: string, then: 'ends' | 'hangs' | 'resets') =>
  listen(
    createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        socket.write(bytes);
        if (then === 'ends') socket.end();
        if (then === 'resets') socket.resetAndDestroy();
      });
    }) as never,
  ).then((port) => `http://127.0.0.1:${port}/`);

test('whatever a receiver answers, the attempt ends in time with a code, and no other delivery waits for it', async () => {
  const w = await workspace();
  const good = await answering(200);
  const once = { retry_on_failure: false, timeout_seconds: 1 };
  const endless = await receiver((res) => {
    res.writeHead(200);
    const timer = setInterval(() => res.write('x'.repeat(65_536)), 1);
    res.on('close', () => clearInterval(timer)).on('error', () => {});
  });
  const dripping = await receiver((res) => {
    res.writeHead(200);
    const timer = setInterval(() => res.write('x'), 100);
    res.on('close', () => clearInterval(timer)).on('error', () => {});
  });
  const packed = gzipSync(Buffer.alloc(64 << 20));
  const bomb = await receiver((res) => void res.writeHead(200, { 'content-encoding': 'gzip' }).end(packed));
  const cases: [string, string, string | null][] = [
    ['silent', await rawServer('', 'hangs'), 'timeout'],
    ['half a head', await rawServer('HTTP/1.1 200 OK\r\nX-A: ', 'hangs'), 'timeout'],
    ['a body that drips', dripping.url, 'timeout'],
    ['no HTTP', await rawServer('SSH-2.0-OpenSSH_9.6\r\n', 'ends'), 'connect_error'],
    ['two lengths', await rawServer('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 9\r\n\r\nx', 'ends'), 'connect_error'],
    ['a reset', await rawServer('HTTP/1.1 200', 'resets'), 'connect_error'],
    ['a body without end', endless.url, null],
    ['more than its length says', await rawServer('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 500 No\r\n\r\n', 'ends'), null],
    ['less than its length says', await rawServer('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok', 'ends'), 'connect_error'],
    ['a chunk that is cut off', await rawServer('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nok', 'resets'), 'connect_error'],
    ['HTTP of 1991', await rawServer('<html>ok</html>', 'ends'), 'connect_error'],
    [
      'interim answers without end',
      await rawServer('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(20_000), 'hangs'),
      'connect_error',
    ],
    ['a switch of protocols', await rawServer('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n', 'ends'), 'connect_error'],
    ['a megabyte that was a gigabyte', bomb.url, null],
    ['ten thousand headers', await rawServer(`HTTP/1.1 200 OK\r\n${'X-A: b\r\n'.repeat(10_000)}\r\n`, 'ends'), 'connect_error'],
  ];
  const made = await Promise.all(
    cases.map(async ([name, url, error]) => ({ name, error, id: (await webhookTo(w.live, url, once)).id as string })),
  );
  const neighbour = await webhookTo(w.live, good.url);
  await send(w.live);
  await delivering(async () => {
    await until(async () => (await statesOf(neighbour.id)) === 'succeeded', 'the neighbour is served');
    await until(async () => (await Promise.all(made.map(({ id }) => attemptOf(id)))).every((row) => row !== null), 'all end');
  });
  for (const { name, error, id } of made) assert.deepEqual([name, (await attemptOf(id))?.error_code], [name, error]);
});

test('a 200 that comes after the time is up is a timeout, and the next attempt has the same IDs', async () => {
  const w = await workspace();
  const late = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const { seen, url } = await receiver((res, nth) => {
    if (nth > 0) return void res.end();
    void late.promise.then(() => {
      res.end();
      answered.resolve();
    });
  });
  const { id } = await webhookTo(w.live, url, { timeout_seconds: 1 });
  await send(w.live);
  await delivering(async () => {
    await until(async () => (await attemptOf(id))?.error_code === 'timeout', 'the first attempt');
    assert.equal(await statesOf(id), 'pending');
    late.resolve();
    await answered.promise;
    assert.equal(await statesOf(id), 'pending', 'too late is not taken');
    await db().webhooks.update({ where: { id }, data: { timeout_seconds: 30 } });
    await due(id);
    await until(async () => (await statesOf(id)) === 'succeeded', 'the second');
  });
  assert.deepEqual(
    seen.map(({ headers }) => headers['x-webhook-attempt']),
    ['1', '2'],
  );
  assert.equal(new Set(seen.map(({ headers }) => `${headers['x-webhook-id']} ${headers['x-webhook-delivery']}`)).size, 1);
});

test('a receiver whose TLS changes between attempts gets nothing until it is who it was, and nothing in plain text', async () => {
  const w = await workspace();
  const name = 'hooks.example.com';
  const [good, wrong, expired, stranger] = await Promise.all([
    generateServer(name),
    generateServer('other.example.com'),
    generateServer(name, new Date(Date.now() - 3_600_000)),
    generateServer(name),
  ]);
  const system = getCACertificates('default');
  setDefaultCACertificates([...system, ...[good, wrong, expired].map(({ ca_pem }) => ca_pem)]);
  const seen: string[] = [];
  const secure = createSecureServer(good, (req, res) => {
    seen.push(`${req.headers['x-webhook-attempt']}`);
    req.resume().on('end', () => res.end());
  }).on('tlsClientError', () => {});
  const inPlain: Buffer[] = [];
  const plain = createServer(
    (socket) =>
      void socket
        .on('data', (bytes) => inPlain.push(bytes))
        .on('error', () => {})
        .end('no TLS'),
  );
  const ports = [await listen(secure), await listen(plain as never)];
  const { id } = await webhookTo(w.live, (await answering(200)).url, { timeout_seconds: 60, max_retries: 10 });
  await db().webhooks.update({ where: { id }, data: { url: `https://${name}/hooks` } });
  const attempt = async (port: number) => {
    const settings = egressSettings({ testHosts: [{ name, port: 443, address: '127.0.0.1', address_port: port }] });
    const http = openHttp({ resolver: createResolver({ settings, resolve: async () => [] }) });
    const before = await db().webhook_attempts.count({ where: { webhook_id: id } });
    await due(id);
    const engine = startDeliveries({ [CHANNEL]: webhookChannel(http) }, { pauseMs: 50 });
    try {
      await until(async () => (await db().webhook_attempts.count({ where: { webhook_id: id } })) > before, 'the attempt');
    } finally {
      await engine.stop();
      await http.close();
      secure.closeAllConnections();
    }
    const row = await db().webhook_attempts.findFirst({ where: { webhook_id: id }, orderBy: { executed_at: 'desc' } });
    return row?.error_code ?? row?.response_status;
  };
  try {
    await send(w.live);
    for (const [how, server] of [
      ['another name', wrong],
      ['ended', expired],
      ['a stranger', stranger],
    ] as const) {
      secure.setSecureContext(server);
      assert.equal(await attempt(ports[0] as number), 'tls_error', how);
    }
    assert.equal(await attempt(ports[1] as number), 'tls_error', 'no TLS at all');
    assert.deepEqual([seen, await statesOf(id)], [[], 'pending']);
    // What came without TLS is the first message of a handshake (RFC 8446 §5.1: content type 22), and no word of the event.
    assert.ok(inPlain.length > 0 && inPlain[0]?.[0] === 22);
    assert.doesNotMatch(Buffer.concat(inPlain).toString('latin1'), /hooks HTTP|secret\.rotated|whsec_/);
    secure.setSecureContext(good);
    assert.equal(await attempt(ports[0] as number), 200);
    assert.deepEqual([seen, await statesOf(id)], [['5'], 'succeeded']);
  } finally {
    setDefaultCACertificates(system);
  }
});

test('a redirect is a failure and is not followed, wherever it leads', async () => {
  const w = await workspace();
  const inside = await answering(200);
  const outside = await receiver((res) => void res.writeHead(307, { location: inside.url }).end());
  const { id } = await webhookTo(w.live, outside.url, { retry_on_failure: false });
  await send(w.live);
  await delivering(() => until(async () => (await statesOf(id)) === 'exhausted', 'it ends'));
  assert.deepEqual(
    [(await attemptOf(id))?.error_code, (await attemptOf(id))?.response_status, inside.seen.length],
    ['http_status', 307, 0],
  );
});

test('an address that became private after it was saved is refused at the attempt, not tried again, and not named', async () => {
  const w = await workspace();
  const { url } = await answering(200);
  for (const [target, named] of [
    ['http://169.254.169.254/latest', false],
    ['https://10.0.0.5/hooks', false],
    ['https://inside.example.com/hooks', true],
    ['http://127.0.0.1:6379/', false],
    // What serializes to an address of this machine or of a private network, whatever it was spelled like.
    ['https://127.0.0.1:8443/', false],
    ['https://2130706433:8443/', false],
    ['https://0x7f.1:8443/', false],
    ['https://[::ffff:10.0.0.1]/', false],
  ] as const) {
    const { id } = await webhookTo(w.live, url, { name: target });
    await db().webhooks.update({ where: { id }, data: { url: target } });
    await send(w.live);
    // A name that resolved to a public address when it was saved, and to a private one now.
    const resolver = createResolver({
      settings: egressSettings({}),
      resolve: async (_, family) => (family === 4 ? [{ address: '10.0.0.5', ttl: 1 }] : []),
    });
    const http = openHttp({ resolver });
    const engine = startDeliveries({ [CHANNEL]: webhookChannel(http) }, { pauseMs: 50 });
    try {
      await until(async () => (await statesOf(id)) === 'exhausted', target);
    } finally {
      await engine.stop();
      await http.close();
    }
    const row = await attemptOf(id);
    assert.deepEqual([row?.error_code, row?.attempt, row?.response_status], ['blocked_address', 1, null], target);
    if (named) assert.match(row?.error_message ?? '', /inside\.example\.com/);
    if (named) assert.doesNotMatch(row?.error_message ?? '', /10\.0\.0\.5/);
    await db().event_subscriptions.deleteMany({ where: { destination_id: id } });
  }
});

test('a name that flips between two answers is connected to at the answer that was judged, or not at all', async () => {
  const w = await workspace();
  const { url } = await answering(200);
  const { id } = await webhookTo(w.live, url, { retry_on_failure: false, timeout_seconds: 1 });
  await db().webhooks.update({ where: { id }, data: { url: 'http://flipping.example.com:8443/' } });
  const asked: string[] = [];
  const resolver = createResolver({
    settings: egressSettings({ allowHttp: true }),
    resolve: async (host, family) => {
      if (family === 6) return [];
      asked.push(host);
      return [{ address: asked.length % 2 === 1 ? '192.0.2.1' : '127.0.0.1', ttl: 0 }];
    },
  });
  const http = openHttp({ resolver, connectTimeoutMs: 500 });
  await send(w.live);
  const engine = startDeliveries({ [CHANNEL]: webhookChannel(http) }, { pauseMs: 50 });
  try {
    await until(async () => (await statesOf(id)) === 'exhausted', 'it ends');
  } finally {
    await engine.stop();
    await http.close();
  }
  assert.equal(asked.length, 1, 'what was judged is what is connected to: nothing is asked twice for one connection');
  assert.ok(['connect_error', 'timeout', 'blocked_address'].includes((await attemptOf(id))?.error_code ?? ''));
});

const inText = (value: unknown) => JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? String(one) : one));

test('what a receiver answers stays in its log: cut, without control over any page, and only behind a reveal', async () => {
  const w = await workspace();
  const { url } = await receiver(
    (res) => void res.writeHead(500, { 'x-canary': 'canary-answer-header' }).end(`<script>canary-answer</script>\0${'y'.repeat(10_000)}`),
  );
  const { id } = await webhookTo(w.live, url, { retry_on_failure: false });
  await send(w.live);
  await delivering(() => until(async () => (await statesOf(id)) === 'exhausted', 'it ends'));
  const row = await attemptOf(id);
  const inClear = inText({ ...row, value_ct: Buffer.from(row?.value_ct ?? []).toString('latin1') });
  assert.doesNotMatch(inClear, /canary-answer/);
  const { inspectAttempt, revealAttempt } = await import('./inspection.ts');
  const shown = await inspectAttempt(w.live, { id: row!.id });
  assert.deepEqual([shown.payload, shown.payload_withheld], [null, true]);
  assert.ok(shown.response_headers.includes('x-canary'));
  assert.doesNotMatch(inText(shown), /canary-answer/);
  const { payload } = await revealAttempt(w.live, { id: row!.id });
  assert.ok(payload.response?.body.startsWith('<script>canary-answer</script>'));
  assert.ok((payload.response?.body.length ?? 0) <= 4_096 && payload.response?.truncated);
  assert.deepEqual(JSON.parse(payload.request.body ?? '').data, { n: 1 });
  assert.match(payload.request.headers['X-Webhook-Signature'] ?? '', /^sha256=/);
});
