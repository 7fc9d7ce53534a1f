import assert from 'node:assert/strict';
import { connect } from 'node:net';
import test from 'node:test';
import { brotliCompressSync, deflateRawSync, gunzipSync, gzipSync } from 'node:zlib';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { type Ask, ask, makeRoute, served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { shareSecret } from '../shared-secrets.fixture.ts';

// A workspace may use a secret of another one and not see it: whatever an upstream answers, the value isn't in what the caller gets (interface rule 30 §7.4).

const VALUE = 'sk_use-only/0123+abc"def';
const MARK = '[redacted:secret:ALIAS]';

await testDatabase();
const running = await startGateway();
type Answering = Parameters<typeof startUpstream>[0] & {};
let answer: Answering = (_, res) => res.end();
const upstream = await startUpstream((req, res, body) => answer(req, res, body));
const { recipient, share } = await shareSecret({ production: VALUE });
await makeRoute(recipient, 'r', upstream.url, { inject_headers_json: { 'x-key': '{{secret:ALIAS}}' }, retry_attempts: 0 });
await makeRoute(recipient, 'plain', upstream.url);
const { text: key } = await recipient.key();
await served(running, recipient);

const call = (how: Ask = {}, path = '/r') => ask(running.port, recipient.tenant.slug, path, { key, ...how });
const sent = () => upstream.seen.at(-1)?.headers['x-key'];

test('a value that comes back in fields of the head, in its reason or in the body is masked', async () => {
  answer = (req, res) => {
    const raw = String(req.headers['x-key']);
    res.writeHead(200, `OK ${raw}`, { 'x-echo': `a ${raw} b`, 'set-cookie': [`k=${raw}`, 'other=1'] });
    res.end(JSON.stringify({ headers: req.headers, key: sent() }));
  };
  const got = await call();
  assert.equal(got.status, 200);
  assert.equal(sent(), VALUE, 'the upstream has the value');
  assert.equal(got.headers['x-echo'], `a ${MARK} b`);
  assert.ok(got.raw.includes(`k=${MARK}`) && got.raw.includes('other=1'));
  assert.ok(!JSON.stringify([got.raw, got.body]).includes('sk_use'));
  assert.equal(JSON.parse(got.body).key, MARK);
});

test('a short answer keeps its length, and without a value every byte and every field', async () => {
  answer = (_, res) => res.writeHead(200, { 'content-length': VALUE_BYTES.length, etag: '"1"', digest: 'sha-256=x' }).end(VALUE_BYTES);
  const changed = await call();
  assert.equal(changed.body, MARK);
  assert.deepEqual(
    [changed.headers['content-length'], changed.headers.etag, changed.headers.digest],
    [String(MARK.length), undefined, undefined],
  );
  answer = (_, res) => res.writeHead(200, { 'content-length': 4, etag: '"1"', 'x-n': '1' }).end('same');
  const same = await call();
  assert.deepEqual([same.body, same.headers['content-length'], same.headers.etag, same.headers['x-n']], ['same', '4', '"1"', '1']);
});
const VALUE_BYTES = Buffer.from(VALUE);

test('every form that a writer gives the value is masked', async () => {
  const bytes = Buffer.from(VALUE);
  for (const written of [
    bytes.toString('base64'),
    bytes.toString('base64url'),
    Buffer.from(`user:${VALUE}`).toString('base64'),
    encodeURIComponent(VALUE),
    JSON.stringify(VALUE),
    JSON.stringify(JSON.stringify({ nested: VALUE })),
    VALUE.replace(/./gu, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`),
    bytes.toString('hex'),
  ]) {
    answer = (_, res) => res.end(`{"seen":"${written}"}`);
    const { body } = await call();
    assert.ok(body.includes(MARK), `${written}: ${body}`);
    assert.ok(!body.includes(written.slice(4, -4)), body);
  }
});

test('a value that is split over chunks is masked, and a stream of events leaves event by event', async () => {
  answer = (_, res) => {
    res.writeHead(200, { 'content-type': 'text/plain' });
    const text = `${'x'.repeat(400)}${VALUE}${'y'.repeat(400)}`;
    for (let at = 0; at < text.length; at += 9) res.write(text.slice(at, at + 9));
    res.end();
  };
  assert.equal((await call()).body, `${'x'.repeat(400)}${MARK}${'y'.repeat(400)}`);

  const second = Promise.withResolvers<void>();
  answer = (_, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(`data: {"key":"${VALUE.slice(0, 9)}`);
    setImmediate(() => res.write(`${VALUE.slice(9).replace('"', '\\"')}"}\n\n`));
    void second.promise.then(() => res.end('data: done\n\n'));
  };
  const events: string[] = [];
  const got = await ask(running.port, recipient.tenant.slug, '/r', {
    key,
    onData: (bytes: Buffer) => {
      events.push(bytes.toString());
      // The first event is here before the second was sent.
      if (events.join('').includes('\n\n')) second.resolve();
    },
  });
  assert.equal(got.body, `data: {"key":"${MARK}"}\n\ndata: done\n\n`);
});

test('an answer that is compressed although nothing asked for it is opened, and refused where it can’t be', async () => {
  const text = JSON.stringify({ key: VALUE });
  for (const [coding, compress] of Object.entries({ gzip: gzipSync, br: brotliCompressSync, deflate: deflateRawSync })) {
    answer = (_, res) => res.writeHead(200, { 'content-encoding': coding, 'content-type': 'application/json' }).end(compress(text));
    const got = await call({ headers: { 'accept-encoding': 'gzip, br' } });
    assert.equal(upstream.seen.at(-1)?.headers['accept-encoding'], 'identity');
    assert.equal(got.body, JSON.stringify({ key: MARK }), coding);
    assert.equal(got.headers['content-encoding'], undefined);
  }
  const clean = gzipSync('{"ok":true}');
  answer = (_, res) => res.writeHead(200, { 'content-encoding': 'gzip', 'content-length': clean.length }).end(clean);
  const untouched = await call();
  assert.deepEqual([untouched.headers['content-encoding'], untouched.headers['content-length']], ['gzip', String(clean.length)]);
  const refusals: [string, Buffer, string][] = [
    ['compress', clean, 'upstream_protocol_error'],
    ['gzip', Buffer.from('no gzip'), 'upstream_protocol_error'],
    ['gzip', gzipSync(Buffer.alloc(6 * 1024 * 1024)), 'upstream_response_too_large'],
  ];
  for (const [coding, bytes, code] of refusals) {
    answer = (_, res) => res.writeHead(200, { 'content-encoding': coding, 'x-echo': VALUE_BYTES.toString('latin1') }).end(bytes);
    const got = await call();
    assert.deepEqual([got.status, got.headers['x-svc-error'], got.headers['x-echo']], [502, code, undefined]);
    assert.match(JSON.parse(got.body).error.message, /for use only.*Ask for an? .*uncompressed response\.$/);
  }
  assert.equal(gunzipSync(clean).toString(), '{"ok":true}');
});

test('no part of an answer is asked for, and none is passed on', async () => {
  answer = (_, res) => res.writeHead(206, { 'content-range': 'bytes 0-4/24' }).end(VALUE_BYTES.subarray(0, 5));
  const got = await call({ headers: { range: 'bytes=0-4' } });
  assert.equal(upstream.seen.at(-1)?.headers.range, undefined);
  assert.deepEqual([got.status, got.headers['x-svc-error']], [502, 'upstream_protocol_error']);
});

test('a long answer leaves as it comes, masked at its very end too', async () => {
  const part = '- z. '.repeat(16 * 1024);
  answer = (_, res) => {
    res.writeHead(200, { 'content-length': 64 * part.length + VALUE_BYTES.length });
    for (let i = 0; i < 64; i++) res.write(part);
    res.end(VALUE_BYTES);
  };
  const got = await call();
  assert.equal(got.headers['content-length'], undefined);
  assert.equal(got.body.length, 64 * part.length + MARK.length);
  assert.ok(got.body.endsWith(`z. ${MARK}`));
});

test('trailers and informational heads are not passed on, and no protocol is changed to', async () => {
  answer = (_, res) => {
    res.writeEarlyHints({ link: `</${encodeURIComponent(VALUE)}>; rel=preload` });
    res.writeHead(200, { trailer: 'x-late' });
    res.write('body');
    res.addTrailers({ 'x-late': 'sk_use-only/0123+abc' });
    res.end();
  };
  const raw = await rawAnswer(
    `GET /r HTTP/1.1\r\nHost: ${recipient.tenant.slug}.localhost:${running.port}\r\nX-Svc-Key: ${key}\r\nTE: trailers\r\nConnection: close, TE\r\n\r\n`,
  );
  assert.ok(raw.startsWith('HTTP/1.1 200') && raw.includes('body') && !raw.includes('sk_use-only') && !raw.includes('x-late'), raw);
  const upgrade = await rawAnswer(
    `GET /r HTTP/1.1\r\nHost: ${recipient.tenant.slug}.localhost:${running.port}\r\nX-Svc-Key: ${key}\r\nConnection: close, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
  );
  assert.ok(!upgrade.startsWith('HTTP/1.1 101'), upgrade);
  assert.ok(!upgrade.includes('sk_use-only'));
});

test('an upstream that breaks off in the middle shows nothing of a value', async () => {
  answer = (_, res) => {
    res.writeHead(200, { 'content-type': 'text/plain' });
    res.write('q'.repeat(1_000) + VALUE.slice(0, 12), () => setImmediate(() => res.destroy()));
  };
  await assert.rejects(call());
});

test('a caller without a value in the call gets the answer as it is; who may view the value as well', async () => {
  answer = (_, res) => res.writeHead(200, { 'content-length': VALUE_BYTES.length, 'x-echo': 'sk_use-only/0123+abc' }).end(VALUE_BYTES);
  const plain = await call({ headers: { 'accept-encoding': 'br' } }, '/plain');
  assert.deepEqual([plain.body, plain.headers['x-echo']], [VALUE, 'sk_use-only/0123+abc']);
  assert.equal(upstream.seen.at(-1)?.headers['accept-encoding'], 'br');
  await db().secret_shares.update({ where: { id: share.id }, data: { access_level: 'view' } });
  await served(running, recipient);
  assert.equal((await call()).body, VALUE);
});

function rawAnswer(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(running.port, '127.0.0.1', () => socket.write(text));
    let got = '';
    socket.on('data', (bytes) => {
      got += bytes.toString('latin1');
    });
    socket.on('close', () => resolve(got));
    socket.on('error', reject);
  });
}

test('a call whose hidden secrets no answer can be searched for is refused before the upstream acts, with the reason and what to do', async () => {
  const long = await shareSecret({ production: 'v'.repeat(1_100_000) });
  await makeRoute(long.recipient, 'long', upstream.url, { body_placeholders: 'all' });
  const { text } = await long.recipient.key();
  await served(running, long.recipient);
  const before = upstream.seen.length;
  answer = (_, res) => res.end('done');
  const headers = { 'content-type': 'application/json' };
  const got = await ask(running.port, long.recipient.tenant.slug, '/long', {
    key: text,
    method: 'POST',
    headers,
    body: '{"a":"{{secret:ALIAS}}"}',
  });
  assert.equal(got.status, 424);
  assert.match(
    got.body,
    /for use only and that hold more than 1 MiB together, for which no answer can be searched\. Use fewer or shorter ones/,
  );
  assert.equal(upstream.seen.length, before, 'nothing was sent');
});
