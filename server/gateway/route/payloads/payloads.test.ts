import assert from 'node:assert/strict';
import { connect } from 'node:net';
import test from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import pg from 'pg';
import { payloadPlace } from '#server/domain/request-logs/payloads/stored.shared.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { keyring } from '#server/platform/keys.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until, untilSteady } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { Capture } from '../../core/capture.ts';
import { quota } from '../../core/quota.ts';
import { ask, makeRoute, makeSecret, served, startGateway, startUpstream } from '../../gateway.fixture.ts';
import { newRouteState } from '../route-call.ts';
import { idOf, keptOf } from './payloads.fixture.ts';
import { createPayloadWriter } from './writer.ts';

await testDatabase();
const running = await startGateway();
const { port } = running;
const JSON_TYPE = { 'content-type': 'application/json' };

/** An upstream that answers what it was sent as JSON, in the encoding that the path names. */
const upstream = await startUpstream((req, res, body) => {
  const [status = '200', how = 'plain'] = (req.url ?? '').split('?')[0]!.split('/').slice(-2);
  const seen = { headers: req.headers, body: body.toString() };
  const encode = ENCODERS[how] ?? ENCODERS.plain!;
  const { bytes, headers } = encode(JSON.stringify(seen), String(req.headers['x-injected'] ?? ''));
  res.writeHead(Number(status) || 200, {
    'content-type': 'application/json',
    'x-echo': String(req.headers['x-injected'] ?? ''),
    ...headers,
  });
  // In pieces of seven bytes: no value comes in one.
  if (how === 'stream') for (let at = 0; at < bytes.length; at += 7) res.write(bytes.subarray(at, at + 7));
  else res.write(bytes);
  res.end();
});
type Encoded = { bytes: Buffer; headers?: Record<string, string> };
const ENCODERS: Record<string, (text: string, secret: string) => Encoded> = {
  plain: (text) => ({ bytes: Buffer.from(text) }),
  stream: (text) => ({ bytes: Buffer.from(text), headers: { 'content-type': 'text/event-stream' } }),
  gzip: (text) => ({ bytes: gzipSync(text), headers: { 'content-encoding': 'gzip' } }),
  br: (text) => ({ bytes: brotliCompressSync(text), headers: { 'content-encoding': 'br' } }),
  unnamed: (text) => ({ bytes: deflateSync(text), headers: { 'content-type': 'application/octet-stream' } }),
  base64: (_, secret) => ({ bytes: Buffer.from(Buffer.from(`a:${secret}`).toString('base64')), headers: { 'content-type': 'text/plain' } }),
  hex: (_, secret) => ({ bytes: Buffer.from(Buffer.from(secret).toString('hex')), headers: { 'content-type': 'text/plain' } }),
  percent: (_, secret) => ({
    bytes: Buffer.from([...Buffer.from(secret)].map((byte) => `%${byte.toString(16)}`).join('')),
    headers: { 'content-type': 'text/plain' },
  }),
  binary: (_, secret) => ({
    bytes: Buffer.concat([Buffer.from([0, 1, 2, 255, 254]), Buffer.from(secret), Buffer.from([0, 128])]),
    headers: { 'content-type': 'image/png' },
  }),
};

/** A workspace with a route that keeps payloads. */
async function capturing(log_payloads: string | null, more: Record<string, unknown> = {}) {
  const w = await workspace();
  await makeSecret(w, 'CANARY', { production: SECRET });
  const route = await makeRoute(w, 'r', upstream.url, {
    inject_headers_json: { 'X-Injected': '{{secret:CANARY}}' },
    ...(log_payloads !== null && { log_payloads, overridden_fields: [] }),
    ...more,
  });
  const { text: key } = await w.key();
  await served(running, w);
  return { w, route, key, slug: w.tenant.slug };
}
const SECRET = 'canary-secret-0123456789-ä';

test('nothing is kept unless the route or the workspace asks for it', async () => {
  const { w, key, slug } = await capturing(null);
  const answer = await ask(port, slug, '/r/200/plain', { key, method: 'POST', body: '{"a":1}', headers: JSON_TYPE });
  const kept = await keptOf(running, idOf(answer));
  assert.deepEqual([kept.flags, kept.rows.length], [null, 0]);

  await db().tenants.update({ where: { id: w.tenant.id }, data: { settings: { log_payloads_default: 'all' } } });
  await served(running, w);
  const second = await keptOf(running, idOf(await ask(port, slug, '/r/200/plain', { key })));
  assert.deepEqual([second.flags, second.rows.length], [3, 2]);
});

test('the request is kept as the caller sent it, before anything was injected, and the answer with what is ours masked', async () => {
  const { key, slug } = await capturing('all', {
    inject_body_json: { api_password: '{{secret:CANARY}}', note: 'added' },
  });
  const body = JSON.stringify({ amount: 12, password: 'hunter2', nested: { clientSecret: ['x', 'y'] }, card: '4242424242424242' });
  const headers = { ...JSON_TYPE, authorization: 'Basic dXNlcjpodW50ZXIy', 'x-trace': 'abc', cookie: 'a=1', 'x-injected': 'mine' };
  const answer = await ask(port, slug, '/r/200/plain', { key, method: 'POST', body, headers });
  assert.equal(answer.status, 200);
  const { request, response, flags } = await keptOf(running, idOf(answer));
  assert.equal(flags, 3);
  assert.deepEqual(JSON.parse(request!.body!), {
    amount: 12,
    password: '[redacted]',
    nested: { clientSecret: '[redacted]' },
    card: '424242******4242',
  });
  const value = (side: typeof request, name: string) => side!.headers.find((h) => h.name.toLowerCase() === name)?.value;
  assert.deepEqual(
    ['authorization', 'x-trace', 'cookie', 'x-svc-key', 'x-injected'].map((name) => value(request, name)),
    ['[redacted]', 'abc', '[redacted]', '[redacted]', '[redacted]'],
  );
  assert.deepEqual([request!.body_bytes, request!.truncated, request!.content_type], [Buffer.byteLength(body), false, 'application/json']);
  assert.equal(value(response, 'x-echo'), '[redacted:secret:CANARY]');
  assert.equal(response!.encoding, 'text');
  for (const gone of [SECRET, 'hunter2', key, '4242424242424242']) assert.ok(!JSON.stringify([request, response]).includes(gone), gone);
});

test('a secret that an upstream answers is nowhere in what is kept, however it is written', async () => {
  const { key, slug } = await capturing('all');
  for (const how of Object.keys(ENCODERS)) {
    const answer = await ask(port, slug, `/r/200/${how}`, { key });
    const { response } = await keptOf(running, idOf(answer));
    const text = response!.body ?? '';
    const forms = [SECRET, Buffer.from(SECRET).toString('base64').slice(4, 24), Buffer.from(SECRET).toString('hex'), 'canary-secret'];
    for (const form of forms) assert.ok(!JSON.stringify(response).includes(form), `${how}: ${text}`);
    if (how === 'binary') assert.deepEqual([response!.body, response!.body_withheld], [null, 'binary']);
    else assert.match(text, /\[redacted:secret:CANARY\]/, how);
  }
});

test('with `errors` only failures are kept, and our own refusals are failures', async () => {
  const { w, key, slug } = await capturing('errors', { rate_limit_enabled: true, rate_limit_requests: 2, rate_limit_window_sec: 3600 });
  const fine = await keptOf(running, idOf(await ask(port, slug, '/r/200/plain', { key })));
  assert.deepEqual([fine.flags, fine.rows.length], [null, 0]);
  const failed = await keptOf(running, idOf(await ask(port, slug, '/r/503/plain', { key, method: 'POST', body: 'why?' })));
  assert.deepEqual([failed.flags, failed.request?.body], [3, 'why?']);
  const refusal = await ask(port, slug, '/r/200/plain', { key, method: 'POST', body: 'never read' });
  assert.equal(refusal.status, 429);
  const refused = await keptOf(running, idOf(refusal));
  assert.equal(refused.response?.body, refusal.body);
  assert.deepEqual([refused.request?.body, refused.request?.body_withheld, refused.request?.truncated], [null, 'not_read', true]);

  // Nobody who wasn't admitted fills the store, and nothing is kept while the plan isn't active.
  const stranger = await keptOf(running, idOf(await ask(port, slug, '/r/200/plain')));
  assert.deepEqual([stranger.log.status_code, stranger.flags], [401, null]);
  await db().tenants.update({ where: { id: w.tenant.id }, data: { subscription_status: 'suspended' } });
  await served(running, w);
  const inactive = await keptOf(running, idOf(await ask(port, slug, '/r/200/plain', { key })));
  assert.deepEqual([inactive.log.error, inactive.flags], ['subscription_inactive', null]);
});

test('long bodies pass whole, and their first 32 KiB are kept with the true lengths', async () => {
  const { key, slug } = await capturing('all', { inject_headers_json: {} });
  const body = Buffer.alloc(300_000, 'x');
  const answer = await ask(port, slug, '/r/200/plain', { key, method: 'POST', body });
  assert.equal((JSON.parse(answer.body) as { body: string }).body.length, 300_000, 'the upstream got all of it');
  const { request, response } = await keptOf(running, idOf(answer));
  for (const side of [request, response]) {
    assert.equal(Buffer.byteLength(side!.body!), 32 * 1024);
    assert.equal(side!.truncated, true);
  }
  assert.deepEqual([request!.body_bytes, response!.body_bytes], [300_000, Buffer.byteLength(answer.body)]);

  // A secret that begins right before the cut isn't shown in half.
  const edge = await capturing('all');
  for (const before of [32 * 1024 - 12, 36 * 1024 - 12]) {
    const filler = Buffer.alloc(before - Buffer.byteLength('{"headers":{},"body":"'), 'y');
    const cut = await keptOf(running, idOf(await ask(port, edge.slug, '/r/200/plain', { key: edge.key, method: 'POST', body: filler })));
    assert.ok(!cut.response!.body!.includes('canary'));
  }
  assert.deepEqual(running.runtime.captures.take(edge.w.tenant.id, 8 * 1024 * 1024), true, 'all memory was given back');
  running.runtime.captures.give(edge.w.tenant.id, 8 * 1024 * 1024);
});

test('a caller who goes away in the middle of the body leaves what came until then', async () => {
  const { w, key, slug } = await capturing('all', { inject_headers_json: {} });
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(
    `POST /r/200/plain HTTP/1.1\r\nHost: ${slug}.localhost:${port}\r\nX-Svc-Key: ${key}\r\nContent-Type: application/octet-stream\r\nContent-Length: 200000\r\n\r\n`,
  );
  socket.write('the beginning');
  await until(() => running.runtime.inFlight.get(w.tenant.id) === 1);
  await untilSteady(() => socket.bytesWritten);
  socket.destroy();
  await until(async () => {
    await running.flush();
    return (await db().request_logs.count({ where: { tenant_id: w.tenant.id } })) === 1;
  });
  const { request_id } = await db().request_logs.findFirstOrThrow({ where: { tenant_id: w.tenant.id } });
  const { request, log } = await keptOf(running, request_id);
  assert.equal(log.error, 'client_closed');
  // The last bytes could be half of a character.
  assert.match(request!.body!, /^the begin/);
  assert.deepEqual([request!.truncated, request!.body_bytes], [true, 200_000]);
});

test('what is kept is sealed for its workspace, space and row, and only that space of that workspace can read the row', async () => {
  const { w, key, slug } = await capturing('all');
  const other = await workspace();
  const { rows } = await keptOf(running, idOf(await ask(port, slug, '/r/200/plain', { key })));
  const row = rows[0]!;
  assert.ok(!Buffer.from(row.value_ct).includes('headers'));
  const places = [
    { ...row, tenant_id: other.tenant.id },
    { ...row, sandbox: true },
    { ...row, id: newId() },
  ];
  for (const place of places) await assert.rejects(keyring().openValue(payloadPlace(place), row), { name: 'DecryptFailed' });
  const visible = (ctx: Parameters<typeof inTransaction>[0]) => inTransaction(ctx, (tx) => tx.log_payloads.count());
  assert.deepEqual([await visible(w.live), await visible(w.test), await visible(other.live)], [2, 0, 0]);
  await assert.rejects(
    inTransaction(w.live, (tx) => tx.log_payloads.create({ data: { ...row, id: newId() } })),
    /permission denied/,
  );
});

test('without memory, without the database or without the key a payload is lost, and the call is not', async () => {
  const { w, key, slug } = await capturing('all');
  // The workspace's share is taken: by calls that are still under way, say.
  const share = 8 * 1024 * 1024;
  assert.ok(running.runtime.captures.take(w.tenant.id, share));
  const crowded = await ask(port, slug, '/r/200/plain', { key, method: 'POST', body: 'x' });
  running.runtime.captures.give(w.tenant.id, share);
  assert.equal(crowded.status, 200);
  const lost = await keptOf(running, idOf(crowded));
  assert.deepEqual([lost.flags, lost.rows.length], [4, 0]);

  const away = new pg.Pool({ connectionString: 'postgresql://postgres@127.0.0.1:1/x', connectionTimeoutMillis: 200 });
  const room = quota(1_000_000);
  const writer = createPayloadWriter({ pool: away, keyring: keyring(), everyMs: 10, mostSealed: 10_000 });
  const finished = (): never => {
    const capture = new Capture('all', w.tenant.id, room);
    capture.takeResponse(Buffer.alloc(3_000, 'x'));
    const snapshot = running.runtime.snapshots.byId(w.tenant.id)?.live;
    const req = { rawHeaders: [], complete: true };
    const base = { req, snapshot, capture, requestId: newId(), receivedAt: Date.now(), status: 200, refusal: null, error: null };
    return { ...base, contentLength: 0, state: newRouteState() } as never;
  };
  for (let i = 0; i < 20; i++) writer.take(finished());
  await until(async () => {
    await writer.flush();
    return writer.waiting < 10;
  });
  assert.ok(room.take(w.tenant.id, 1_000_000), 'what is sealed holds nothing of the share');
  await writer.close();
  await away.end();
});
