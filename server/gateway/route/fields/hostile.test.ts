import assert from 'node:assert/strict';
import { connect } from 'node:net';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { sealValue } from '#server/custody/portable.ts';
import { flushUses } from '#server/custody/uses.ts';
import { tokenize } from '#server/custody/vaults/tokenize.ts';
import * as routes from '#server/domain/routes/operations.ts';
import { ECHO_ORIGIN } from '#server/kernel/echo-origin.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { keyActor } from '#server/testing/workspace.ts';
import { served, startGateway, startUpstream } from '../../gateway.fixture.ts';
import { idOf, keptOf } from '../payloads/payloads.fixture.ts';
import { called, custodian, routeWith } from './fields.fixture.ts';

await testDatabase({ UPSTREAM_PRIVATE_ALLOWLIST: '127.0.0.0/8' });
const running = await startGateway();
const JSON_TYPE = { 'content-type': 'application/json' };
const LINES = { 'content-type': 'application/x-ndjson' };
const ENCRYPT = { action: 'encrypt', selectors: ['$..ssn'], key_name: 'app-key' };
const CLEAR = '123-45-6789';

const sink = await startUpstream();
/** Answers the body, status and headers that the test asks for. */
type Reply = { status?: number; headers?: Record<string, string>; body?: string | Buffer; chunks?: (string | Buffer)[]; breaks?: boolean };
let reply: Reply = {};
const upstream = await startUpstream((_, res) => {
  res.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers });
  for (const chunk of reply.chunks ?? []) res.write(chunk);
  if (reply.breaks) res.write('', () => setImmediate(() => res.destroy()));
  else res.end(reply.body);
});

test('request: whatever can’t be looked into is refused before anything is sent, and nothing of it is told or kept', async () => {
  const c = await custodian();
  const { call } = await routeWith(running, c, sink.url, [{ direction: 'request', ...ENCRYPT }], {
    log_payloads: 'all',
    overridden_fields: [],
  });
  const bodies: [string, string | Buffer, Record<string, string>?][] = [
    ['truncated', `{"ssn":"${CLEAR}"`],
    ['two values', `{"ssn":"${CLEAR}"}{"ssn":"${CLEAR}"}`],
    ['byte order mark', `\ufeff{"ssn":"${CLEAR}"}`],
    ['invalid UTF-8', Buffer.concat([Buffer.from(`{"ssn":"${CLEAR}`), Buffer.from([0xff]), Buffer.from('"}')])],
    ['half a character', `{"ssn":"${CLEAR}\\ud800"}`],
    ['too deep', `${'{"a":'.repeat(65)}{"ssn":"${CLEAR}"}${'}'.repeat(65)}`],
    ['too many', JSON.stringify(Array.from({ length: 2_001 }, () => ({ ssn: CLEAR })))],
    ['a value too long', JSON.stringify({ ssn: CLEAR.repeat(6_000) })],
    ['another type', `ssn=${CLEAR}`, { 'content-type': 'application/x-www-form-urlencoded' }],
    ['no type', CLEAR, { 'content-type': '' }],
    ['a relative', `{"ssn":"${CLEAR}"}`, { 'content-type': 'application/problem+json' }],
    ['compressed', gzipSync(`{"ssn":"${CLEAR}"}`), { 'content-encoding': 'gzip' }],
  ];
  for (const [name, body, headers] of bodies) {
    const answer = await call({ body, headers: { ...JSON_TYPE, ...headers } });
    assert.deepEqual([answer.status, answer.headers['x-svc-error']], [424, 'field_action_failed'], name);
    assert.ok(!answer.body.includes(CLEAR), name);
    const kept = JSON.stringify(await keptOf(running, idOf(answer)), (_, value) => (typeof value === 'bigint' ? String(value) : value));
    assert.ok(!kept.includes(CLEAR), `${name}: ${kept}`);
  }
  assert.equal(sink.seen.length, 0);
  for (const headers of [{ 'content-type': 'application/json', 'content-length': '0' }])
    assert.equal((await call({ headers })).status, 200, 'no body');
});

test('request: names twice, escaped or hostile are all sealed, and numbers and blanks around them stay', async () => {
  const c = await custodian();
  const { json } = await routeWith(running, c, sink.url, [{ direction: 'request', ...ENCRYPT, selectors: ['$.ssn', '$.__proto__.ssn'] }]);
  const body = `\r\n{ "n" : 1e400 , "ssn":"${CLEAR}", "\\u0073sn" :"${CLEAR}","ss\\u006E":${'9'.repeat(400)}, "__proto__":{"ssn":"${CLEAR}"},"x":"\\ud83d\\ude00" }\t`;
  assert.equal((await json(body)).status, 200);
  const sent = sink.seen.at(-1)?.body ?? '';
  assert.ok(!sent.includes(CLEAR) && !sent.includes('9'.repeat(20)));
  assert.equal(
    sent.replace(/"kc:[^"]+"/g, '*'),
    '\r\n{ "n" : 1e400 , "ssn":*, "\\u0073sn" :*,"ss\\u006E":*, "__proto__":{"ssn":*},"x":"\\ud83d\\ude00" }\t',
  );
});

test('request: a body cut into pieces at any byte is the same body', async () => {
  const c = await custodian();
  const { slug } = await routeWith(running, c, sink.url, [
    { direction: 'request', action: 'mask', selectors: ["$['ü'].ssn"], mask: 'full' },
    { direction: 'request', action: 'mask', selectors: ["$['ü'].ssn"], mask: 'full', content_type: 'application/x-ndjson' },
  ]);
  const body = Buffer.from('{"ü":{"ssn":"\\"x"}}\n{"ü":{"ssn":"y"},"z":1.0}');
  for (const [type, bytes, expected] of [
    ['application/json', body.subarray(0, 20), '{"ü":{"ssn":"********"}}'],
    ['application/x-ndjson', body, '{"ü":{"ssn":"********"}}\n{"ü":{"ssn":"********"},"z":1.0}'],
  ] as const) {
    for (let at = 1; at < bytes.length; at++) {
      const status = await sentInTwo(c, slug, type, bytes, at);
      assert.equal(status, 200, `${type} at ${at}`);
      assert.equal(sink.seen.at(-1)?.body.trim(), expected, `${type} at ${at}`);
    }
  }
});

/** The body in two chunks of its own segments. */
function sentInTwo(c: Awaited<ReturnType<typeof custodian>>, slug: string, type: string, body: Buffer, at: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(running.port, '127.0.0.1');
    socket.setNoDelay(true);
    let answer = '';
    socket.on('data', (bytes) => {
      answer += bytes.toString('latin1');
      const status = /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1];
      if (status === undefined) return;
      socket.destroy();
      resolve(Number(status));
    });
    socket.on('error', reject);
    const chunk = (bytes: Buffer) => Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
    socket.write(
      `POST /${slug} HTTP/1.1\r\nHost: ${c.w.tenant.slug}.localhost:${running.port}\r\nX-Svc-Key: ${c.key}\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    socket.write(chunk(body.subarray(0, at)));
    setImmediate(() => socket.write(Buffer.concat([chunk(body.subarray(at)), Buffer.from('0\r\n\r\n')])));
  });
}

test('response: an answer that can’t be looked into becomes 502 with the upstream’s status, and none of its bytes leave', async () => {
  const c = await custodian();
  const { call } = await routeWith(running, c, upstream.url, [{ direction: 'response', ...ENCRYPT }], {
    log_payloads: 'all',
    overridden_fields: [],
  });
  const body = `{"ssn":"${CLEAR}"}`;
  const replies: [string, Reply, number?][] = [
    ['truncated', { body: body.slice(0, -1) }],
    ['another type', { headers: { 'content-type': 'text/plain' }, body }],
    ['a stream of another type', { headers: { 'content-type': 'text/plain' }, chunks: [body, body], body: '' }],
    ['compressed', { headers: { 'content-encoding': 'gzip' }, body: gzipSync(body) }],
    ['a part', { status: 206, headers: { 'content-range': 'bytes 8-18/21' }, body: `"${CLEAR}"` }],
    ['an event stream', { headers: { 'content-type': 'text/event-stream' }, body: `data: ${body}\n\n` }],
    ['broken', { chunks: [body], breaks: true }, 502],
    ['broken JSON of an error', { status: 500, body: body.slice(0, -1) }],
  ];
  for (const [name, next, status = 502] of replies) {
    reply = next;
    const answer = await call({ method: 'GET' });
    assert.equal(answer.status, status, name);
    if (name !== 'broken')
      assert.deepEqual(
        [answer.headers['x-svc-error'], answer.headers['x-svc-upstream-status']],
        ['response_action_failed', String(next.status ?? 200)],
        name,
      );
    assert.ok(!JSON.stringify(answer).includes(CLEAR), name);
    const kept = await keptOf(running, idOf(answer));
    assert.ok(!JSON.stringify([kept.request, kept.response]).includes(CLEAR), name);
  }
  reply = { status: 500, headers: { 'content-type': 'text/html' }, body: '<h1>Oops</h1>' };
  const page = await call({ method: 'GET' });
  assert.deepEqual([page.status, page.body], [500, '<h1>Oops</h1>']);
  reply = { chunks: Array.from({ length: 11 }, () => Buffer.alloc(1024 * 1024, 0x20)), body: '{}' };
  const long = await call({ method: 'GET' });
  assert.deepEqual([long.status, long.headers['x-svc-error']], [502, 'upstream_response_too_large']);
  for (const [status, method] of [
    [204, 'GET'],
    [304, 'GET'],
    [200, 'HEAD'],
  ] as const) {
    reply = { status, headers: { etag: '"1"' } };
    assert.equal((await call({ method })).status, status);
  }
});

test('response: megabytes pass whole, with every digit as it was', async () => {
  const c = await custodian();
  const { call } = await routeWith(running, c, upstream.url, [
    { direction: 'response', action: 'mask', selectors: ['$.rows[*].ssn'], mask: 'full' },
  ]);
  const row = (i: number, ssn: string) => `{"id":${i}.10,"pad":"${'x'.repeat(4_000)}","ssn":"${ssn}"}`;
  const body = (ssn: string) => `{"rows":[${Array.from({ length: 1_500 }, (_, i) => row(i, ssn)).join(', ')}]}`;
  const whole = Buffer.from(body(CLEAR));
  const chunks = Array.from({ length: Math.ceil(whole.length / 50_000) }, (_, i) => whole.subarray(i * 50_000, (i + 1) * 50_000));
  for (const next of [{ body: whole }, { chunks, body: '' }] as Reply[]) {
    reply = next;
    const answer = await call({ method: 'GET' });
    assert.equal(answer.status, 200);
    assert.ok(answer.body === body('********'));
    assert.equal(answer.headers['content-length'], String(answer.body.length));
  }
});

test('response: lines go on as they come, and the first that fails ends the connection before it is sent', async () => {
  const c = await custodian();
  const { call, slug } = await routeWith(running, c, upstream.url, [
    { direction: 'response', ...ENCRYPT, content_type: 'application/x-ndjson' },
  ]);
  reply = { headers: LINES, chunks: [`{"ssn":"${CLEAR}"}\n{"ss`, `n":"${CLEAR}"}\n`], body: `{"x":1}` };
  const whole = await call({ method: 'GET' });
  assert.match(whole.body, /^\{"ssn":"kc:[^"]+"\}\n\{"ssn":"kc:[^"]+"\}\n\{"x":1\}$/);
  assert.equal(whole.headers['content-length'], undefined);
  for (const [name, chunks, status] of [
    ['a first line that is none', [`{"ssn":"${CLEAR}"`, '\n{}\n'], 502],
    ['a line without end', [`"${'x'.repeat(1024 * 1024)}`, 'y'], 502],
    ['a truncated last line', [`{"a":1}\n{"ssn":"${CLEAR}`], null],
    ['a broken line later', ['{"a":1}\n', `{"ssn":${CLEAR}}\n`, '{"b":2}\n'], null],
  ] as const) {
    reply = { headers: LINES, chunks: [...chunks], body: '' };
    const raw = await rawAnswer(c, slug);
    if (status !== null) assert.match(raw, new RegExp(`^HTTP/1.1 ${status} `), name);
    else assert.ok(!raw.endsWith('0\r\n\r\n'), `${name}: the message has no end`);
    assert.ok(!raw.includes(CLEAR) && !raw.includes('{"b":2}'), name);
  }
});

const rawAnswer = (c: Awaited<ReturnType<typeof custodian>>, slug: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(running.port, '127.0.0.1');
    let text = '';
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
    socket.write(
      `GET /${slug} HTTP/1.1\r\nHost: ${c.w.tenant.slug}.localhost:${running.port}\r\nX-Svc-Key: ${c.key}\r\nConnection: close\r\n\r\n`,
    );
  });

test('request: a line that fails ends the call; the upstream never gets the end of the message', async () => {
  const c = await custodian();
  let ended = 0;
  let got = '';
  const strictUpstream = await startUpstream(() => {
    ended++;
  });
  strictUpstream.server.removeAllListeners('request');
  strictUpstream.server.on('request', (req) => {
    req.on('data', (bytes: Buffer) => {
      got += bytes.toString();
    });
    req.on('end', () => ended++);
    req.on('error', () => {});
  });
  const { call } = await routeWith(running, c, strictUpstream.url, [
    { direction: 'request', ...ENCRYPT, content_type: 'application/x-ndjson' },
  ]);
  const answer = await call({ body: `{"a":1}\n{"ssn":"${CLEAR}"\n{"b":2}\n`, headers: LINES });
  assert.deepEqual([answer.status, answer.headers['x-svc-error'], ended], [424, 'field_action_failed', 0]);
  assert.ok(!got.includes(CLEAR) && !got.includes('"b"'));
});

test('lenient actions leave what they can’t process, and the log says so', async () => {
  const c = await custodian();
  const { call } = await routeWith(running, c, sink.url, [
    { direction: 'request', ...ENCRYPT, mode: 'lenient' },
    { direction: 'request', action: 'tokenize', selectors: ['$.pan'], key_name: 'pan-vault', mode: 'lenient' },
  ]);
  for (const [body, headers, warning] of [
    [`{"ssn":"${CLEAR}"`, JSON_TYPE, 'field_action:encrypt:unreadable'],
    ['ssn=1', { 'content-type': 'text/plain' }, 'field_action:encrypt:media_type'],
    ['{"pan":["4242424242424242","4242"]}', JSON_TYPE, 'field_action:tokenize:validation_error'],
  ] as const) {
    const answer = await call({ body, headers });
    assert.equal(answer.status, 200, body);
    const { log } = await keptOf(running, idOf(answer));
    assert.ok((log.warnings as string[]).includes(warning), JSON.stringify(log.warnings));
  }
  assert.match(sink.seen.at(-1)?.body ?? '', /^\{"pan":\["424242\d{6}4242","4242"\]\}$/);
});

test('what can’t be opened fails closed: another role, key or tenant, a destroyed version, a disabled vault, an expired token, a host that isn’t pinned', async () => {
  const [c, stranger] = [await custodian(), await custodian()];
  const seal = async (of: typeof c, role?: string, key = 'app-key') =>
    (await sealValue(of.w.live, { key, datatype: 's', bytes: Buffer.from(CLEAR), role })).text;
  const decrypt = { direction: 'request', action: 'decrypt', selectors: ['$.v'], key_name: 'app-key' };
  const { json } = await routeWith(running, c, sink.url, [decrypt]);
  const before = sink.seen.length;
  const own = await seal(c);
  const texts = {
    role: await seal(c, 'pii'),
    tenant: await seal(stranger),
    key: await seal(c, undefined, 'kc-default').catch(() => own.replace('kc:1', 'kc:2')),
    tampered: own.replace(/.(?=:\$$)/, (c) => (c === 'A' ? 'Q' : 'A')),
    scheme: own.replace('kc:1', 'kc:9'),
  };
  for (const [name, text] of Object.entries(texts)) {
    const answer = await json(JSON.stringify({ v: text }));
    assert.deepEqual([answer.status, answer.headers['x-svc-error']], [424, 'field_action_failed'], name);
    assert.ok(!answer.body.includes(text.slice(20, 60)));
  }
  assert.equal(
    (await db().audit_logs.count({ where: { tenant_id: c.w.tenant.id, action: 'transit.decrypt' } })) + sink.seen.length,
    before,
  );
  await db().crypto_key_versions.updateMany({
    where: { tenant_id: c.w.tenant.id, key: { name: 'app-key' } },
    data: { status: 'destroyed', destroyed_at: new Date(), value_ct: null, cek_wrapped: null, tmk_version: null, public_key_spki: null },
  });
  assert.equal((await json(JSON.stringify({ v: own }))).status, 424, 'destroyed');

  const token = (await tokenize(c.w.live, c.any, [{ value: CLEAR }]))[0]?.token;
  const open = await routeWith(running, c, sink.url, [{ direction: 'request', action: 'detokenize', selectors: ['$.v'], key_name: 'any' }]);
  const tried = async () => (await open.json(JSON.stringify({ v: token }))).status;
  assert.equal(await tried(), 200);
  await db().vaults.update({ where: { id: c.any.id }, data: { allowed_hosts: ['api.example.com'] } });
  assert.equal(await tried(), 424, 'pinned to another host');
  await db().vaults.update({ where: { id: c.any.id }, data: { allowed_hosts: undefined, enabled: false } });
  assert.equal(await tried(), 424, 'disabled');
  assert.equal((await db().audit_logs.findMany({ where: { tenant_id: c.w.tenant.id, action: 'vault.detokenize' } })).length, 1);
});

test('clear values stay out of the log and of what is kept of the payload, in both directions and in headers and queries', async () => {
  const c = await custodian();
  const token = (await tokenize(c.w.live, c.any, [{ value: `revealed-${CLEAR}` }]))[0]?.token ?? '';
  const echo = await startUpstream((req, res, body) => {
    res
      .writeHead(200, { 'content-type': 'application/json', 'x-ssn': CLEAR })
      .end(JSON.stringify({ ssn: CLEAR, echo: body.toString(), url: req.url }));
  });
  const { call } = await routeWith(
    running,
    c,
    echo.url,
    [
      { direction: 'request', ...ENCRYPT },
      { direction: 'request', action: 'detokenize', selectors: ['$.token'], key_name: 'any' },
      { direction: 'request', action: 'mask', location: 'query', selectors: ['$.ssn'], mask: 'full' },
      { direction: 'request', action: 'mask', location: 'header', selectors: ['$.X-Ssn'], mask: 'full' },
      { direction: 'response', ...ENCRYPT },
      { direction: 'response', action: 'mask', location: 'header', selectors: ['$.X-Ssn'], mask: 'full' },
    ],
    { log_payloads: 'all', overridden_fields: [] },
  );
  const answer = await call(
    { body: JSON.stringify({ ssn: CLEAR, token }), headers: { ...JSON_TYPE, 'x-ssn': CLEAR } },
    `/p?ssn=${CLEAR}&page=2`,
  );
  assert.equal(answer.status, 200, answer.body);
  assert.ok(answer.body.includes(`revealed-${CLEAR}`), 'the upstream has echoed it');
  const kept = await keptOf(running, idOf(answer));
  const text = JSON.stringify(kept, (_, value) => (typeof value === 'bigint' ? String(value) : value));
  assert.ok(!text.includes(CLEAR), text);
  assert.equal(kept.request?.body, `{"ssn":"[redacted]","token":"[redacted]"}`);
  assert.match(String(kept.log.path), /page=2/);
});

test('nothing is revealed to our own echo upstream, nor to who tries a route', async () => {
  const c = await custodian();
  const token = (await tokenize(c.w.live, c.any, [{ value: `revealed-${CLEAR}` }]))[0]?.token ?? '';
  const actions = [
    { direction: 'request', action: 'detokenize', selectors: ['$.token'], key_name: 'any' },
    { direction: 'response', action: 'detokenize', selectors: ['$.again'], key_name: 'any' },
  ];
  const echo = await routeWith(running, c, ECHO_ORIGIN, actions);
  const answer = await echo.json(JSON.stringify({ token }));
  assert.ok(!answer.body.includes(CLEAR) && answer.status < 500, answer.body);
});

test('an action is refused whose key or vault is missing, of the wrong kind, or not the caller’s to use', async () => {
  const c = await custodian();
  const { route } = await routeWith(running, c, sink.url, []);
  const add = (ctx: typeof c.w.live, more: object) =>
    called(routes.createAction, ctx, { id: route.id, direction: 'request', selectors: ['$.a'], ...more });
  for (const more of [
    { action: 'encrypt', key_name: 'nowhere' },
    { action: 'encrypt', key_name: 'mac' },
    { action: 'sign', key_name: 'app-key', signature_header: 'X-A' },
    { action: 'tokenize', key_name: 'app-key' },
    { action: 'detokenize', key_name: 'nowhere' },
    { action: 'encrypt' },
    { action: 'mask' },
    { action: 'mask', mask: 'full', key_name: 'app-key' },
    { action: 'mask', mask: 'full', content_type: 'text/plain' },
    { action: 'mask', mask: 'full', location: 'query', content_type: 'application/json' },
    { action: 'mask', mask: 'full', location: 'query', direction: 'response' },
    { action: 'mask', mask: 'full', location: 'header', selectors: ['$.Host'] },
    { action: 'mask', mask: 'full', location: 'header', selectors: ['$.a.b'] },
    { action: 'mask', mask: 'full', selectors: ['$..a..b'] },
    { action: 'mask', mask: 'full', selectors: [] },
    { action: 'sign', key_name: 'mac', signature_header: 'X-A', content_type: 'application/x-ndjson' },
    { action: 'sign', key_name: 'mac', selectors: ['$'], signature_member: 'a' },
    { action: 'encrypt', key_name: 'app-key', data_role: 'No Role' },
  ])
    await assert.rejects(add(c.w.live, more), { type: 'validation_error' }, JSON.stringify(more));
  const detokenize = { action: 'detokenize', key_name: 'any' };
  await assert.rejects(add(c.w.member('editor'), detokenize), { type: 'role_denied' });
  await assert.rejects(add(c.w.ctx('live', keyActor('Key - Editor')), detokenize), { type: 'forbidden' });
  const made = await add(c.w.ctx('live', keyActor('Key - Infrastructure')), detokenize);
  const change = (input: object) => called(routes.updateAction, c.w.member('editor'), { id: route.id, actionId: made.id, ...input });
  await assert.rejects(change({ selectors: ['$.b'] }), { type: 'role_denied' });
  assert.equal((await change({ enabled: false })).enabled, false);
  await assert.rejects(change({ enabled: true }), { type: 'role_denied' });
  await served(running, c.w);
  await flushUses();
});
