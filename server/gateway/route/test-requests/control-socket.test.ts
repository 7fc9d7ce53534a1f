import assert from 'node:assert/strict';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import test from 'node:test';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { execute, perform } from '#server/api/perform.ts';
import { SPELLINGS } from '#server/custody/redaction/encodings.fixture.ts';
import * as ops from '#server/domain/routes/operations.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { controlSocketPath } from '#server/platform/gateway-control.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ask, makeRoute, makeSecret, startGateway, startUpstream } from '../../gateway.fixture.ts';

await testDatabase();
const running = await startGateway();
await running.controlSocket.listen(controlSocketPath());

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of many shapes by field name
const tried = async (ctx: Ctx, input: Record<string, unknown>): Promise<any> =>
  (await execute(ops.test, { ...ctx, now: new Date() }, { method: 'GET', ...input })).output;
const rowsOf = (tenantId: string) => db().request_logs.findMany({ where: { tenant_id: tenantId }, orderBy: { id: 'asc' } });
const VALUE = 'sk-live-3f9aÄ/+secret';

test('a trial goes to the upstream as a call does, and the person sees every secret masked, sent and echoed in any form', async () => {
  const w = await workspace();
  const upstream = await startUpstream((req, res, body) => {
    const value = String(req.headers['x-token']);
    const raw = Buffer.from(value, 'latin1').toString('utf8');
    const echo = [
      value,
      Buffer.from(raw).toString('base64'),
      Buffer.from(raw).toString('hex'),
      encodeURIComponent(raw),
      JSON.stringify({ raw }),
    ];
    res.writeHead(201, { 'x-echo': encodeURIComponent(raw), 'content-type': 'text/plain' }).end(`${echo.join('\n')}\n${body.toString()}`);
  });
  await makeSecret(w, 'TOKEN', { production: 'sk-live-3f9a-plain' });
  await makeSecret(w, 'PIN', { production: 'kwtz' });
  const route = await makeRoute(w, 'echoing', upstream.url, {
    inject_headers_json: { 'X-Token': '{{secret:TOKEN}}' },
    inject_query_json: { pin: '{{secret:PIN}}' },
    inject_body_json: { card: { pin: '{{secret:PIN}}' } },
  });
  const report = await tried(w.member('editor'), {
    id: route.slug,
    method: 'POST',
    path: '/v1/things?a=1',
    query: [{ key: 'b c', value: 'ü' }],
    headers: [{ name: 'Content-Type', value: 'application/json' }],
    body: '{"amount":5}',
  });
  const [seen] = upstream.seen;
  assert.equal(seen?.headers['x-token'], 'sk-live-3f9a-plain', 'the upstream gets the value');
  assert.equal(seen?.url, '/v1/things?a=1&b%20c=%C3%BC&pin=kwtz');
  assert.deepEqual(JSON.parse(seen?.body ?? ''), { amount: 5, card: { pin: 'kwtz' } });
  const text = JSON.stringify(report);
  for (const form of [
    'sk-live-3f9a-plain',
    Buffer.from('sk-live-3f9a-plain').toString('base64'),
    Buffer.from('sk-live-3f9a-plain').toString('hex'),
  ])
    assert.ok(!text.includes(form), `${form} is shown`);
  assert.ok(!JSON.stringify(report.request).includes('kwtz'), 'in what was put in, short values are masked too');
  assert.deepEqual(
    report.request.headers.find((h: { name: string }) => h.name === 'X-Token'),
    { name: 'X-Token', value: '[redacted:secret:TOKEN]' },
  );
  assert.deepEqual(
    [report.response.status, report.response.body_encoding, report.refusal, report.environment],
    [201, 'text', null, 'production'],
  );
  assert.match(report.response.body, /\[redacted:secret:TOKEN\]/);
  assert.deepEqual(report.secrets_used.sort(), ['PIN', 'TOKEN']);
  assert.ok(
    report.response.headers.some((h: { name: string }) => h.name === 'X-Svc-Request-Id'),
    'with the response block',
  );
  assert.ok(Object.keys(report.phases_ms).includes('rewrite') && report.timings.upstream_ms !== null);
  for (const h of report.request.headers) assert.doesNotMatch(h.name, /^x-svc-/i, 'nothing of ours reaches the upstream');

  await running.flush();
  const [row] = await rowsOf(w.tenant.id);
  assert.deepEqual(
    [
      row?.request_id,
      row?.proxy_mode,
      row?.identification_method,
      row?.status_code,
      row?.route_id,
      row?.api_key_id,
      row?.matched_client_id,
    ],
    [report.request_id, 'test', 'dashboard_user', 201, route.id, null, null],
  );
  assert.doesNotMatch(
    JSON.stringify(row, (_, v) => (typeof v === 'bigint' ? String(v) : v)),
    /x-svc-trial|sk-live/,
  );
  const entry = await db().audit_logs.findFirstOrThrow({ where: { tenant_id: w.tenant.id, resource_id: route.id, action: 'execute' } });
  const details = entry.details as Record<string, unknown>;
  assert.deepEqual(
    [details.test, details.dry_run, details.method, details.path, details.call_request_id],
    [true, false, 'POST', '/v1/things', report.request_id],
  );
});

/** A route whose upstream answers what the path names with the value that was injected in its query. */
async function reflecting(answers: Record<string, (res: ServerResponse, value: string, req: IncomingMessage) => void>) {
  const w = await workspace();
  const upstream = await startUpstream((req, res) => {
    const url = new URL(req.url ?? '', 'http://upstream');
    answers[decodeURIComponent(url.pathname.slice(1))]?.(res, url.searchParams.get('k') ?? '', req);
  });
  await makeSecret(w, 'WIDE', { production: VALUE });
  const route = await makeRoute(w, 'reflecting', upstream.url, { inject_query_json: { k: '{{secret:WIDE}}' } });
  const of = (name: string, more: object = {}) => tried(w.live, { id: route.id, path: `/${encodeURIComponent(name)}`, ...more });
  return { w, upstream, route, of };
}

test('an upstream that reflects the secret in any spelling of a writer, in a header or in the body, shows nothing of it', async () => {
  const minute = { now: Date.now() };
  const { w, route } = await reflecting(
    Object.fromEntries(
      Object.entries(SPELLINGS).map(([name, spell]) => [
        name,
        (res: ServerResponse, value: string) => {
          const written = Buffer.from(spell(value, Buffer.from(value)), name === 'UTF-16' ? 'latin1' : 'utf8');
          const line = written.toString('latin1').replace(/[\r\n\0]+/g, ' ');
          res
            .writeHead(200, { 'content-type': 'application/octet-stream', 'x-reflected': line })
            .end(Buffer.concat([Buffer.from('seen:'), written]));
        },
      ]),
    ),
  );
  for (const name of Object.keys(SPELLINGS)) {
    minute.now += 60_000; // tests are limited to 60 a minute
    const { output } = await execute(
      ops.test,
      { ...w.live, now: new Date(minute.now) },
      { id: route.id, method: 'GET', path: `/${encodeURIComponent(name)}` },
    );
    const { response } = output as { response: { body: string; body_encoding: string; headers: { name: string; value: string }[] } };
    const reflected = response.headers.find((header) => header.name === 'x-reflected')?.value ?? '';
    if (name === 'UTF-16') assert.equal(response.body_encoding, 'withheld');
    else assert.ok(response.body.includes('[redacted:secret:WIDE]'), `${name}: ${response.body}`);
    assert.ok(!/3f9a|\+secret/i.test(`${response.body}${reflected}`), `${name}: ${response.body} ${reflected}`);
  }
});

test('a compressed answer is opened, whether it says so or not, and what cannot be opened or is no text is withheld', async () => {
  const text = (value: string) => `it is ${value}!`;
  const answers: Record<string, [type: string, encoding: string, (value: string) => Buffer]> = {
    gzip: ['text/plain', 'gzip', (value) => gzipSync(text(value))],
    'gzip, twice': ['text/plain', 'gzip, br', (value) => brotliCompressSync(gzipSync(text(value)))],
    'raw deflate': ['text/plain', 'deflate', (value) => deflateRawSync(text(value))],
    'undeclared gzip': ['application/json', '', (value) => gzipSync(text(value))],
    'undeclared zlib in gzip': ['text/plain', '', (value) => gzipSync(deflateSync(text(value)))],
    'undeclared zstd': ['text/plain', 'identity', (value) => zstdCompressSync(text(value))],
    'UTF-16': ['text/plain; charset=utf-16', '', (value) => Buffer.from(text(value), 'utf16le')],
    'UTF-16 with its mark': ['text/plain', '', (value) => Buffer.from(`\ufeff${text(value)}`, 'utf16le').swap16()],
    'Latin-1': ['text/plain; charset=iso-8859-1', '', (value) => Buffer.from(text(value), 'latin1')],
  };
  const hidden: typeof answers = {
    rot13: ['text/plain', 'rot13', (value) => Buffer.from(value)],
    'broken gzip': ['text/plain', '', (value) => gzipSync(text(value)).subarray(0, -9)],
    'gzip of too much': ['text/plain', 'gzip', () => gzipSync('x'.repeat(2 ** 21))],
    'undeclared brotli': ['text/plain', '', (value) => brotliCompressSync(text(value).repeat(3))],
    'undeclared raw deflate': ['text/plain; charset=iso-8859-1', '', (value) => deflateRawSync(text(value).repeat(3))],
    'a file': ['image/png', '', (value) => Buffer.concat([Buffer.from([0x89, 0, 1, 255]), Buffer.from(value)])],
    'a charset that is not its own': [
      'text/plain; charset=utf-16le',
      '',
      (value) => Buffer.concat([Buffer.from([0xff]), Buffer.from(`${value}${value} `)]),
    ],
  };
  const reply =
    ([type, encoding, bytes]: (typeof answers)[string]) =>
    (res: ServerResponse, value: string) =>
      res.writeHead(200, { 'content-type': type, ...(encoding && { 'content-encoding': encoding }) }).end(bytes(value));
  const { of } = await reflecting(Object.fromEntries(Object.entries({ ...answers, ...hidden }).map(([name, one]) => [name, reply(one)])));
  for (const name of Object.keys(answers)) {
    const { response } = await of(name);
    assert.deepEqual([response.body_encoding, response.body], ['text', 'it is [redacted:secret:WIDE]!'], name);
  }
  for (const name of Object.keys(hidden)) {
    const { response } = await of(name);
    const reason = /rot13|gzip/.test(name) ? 'compressed' : 'binary';
    assert.deepEqual([response.body, response.body_encoding, response.withheld_reason], ['', 'withheld', reason], name);
  }
});

test('a route that injects no secret shows any answer, binary ones as base64', async () => {
  const w = await workspace();
  const bytes = Buffer.from([0, 1, 255, 137, 80]);
  const upstream = await startUpstream((_, res) => void res.writeHead(200).end(bytes));
  const route = await makeRoute(w, 'plain', upstream.url);
  const { response } = await tried(w.live, { id: route.id });
  assert.deepEqual([response.body, response.body_encoding, response.withheld_reason], [bytes.toString('base64'), 'base64', null]);
});

test('no test asks for a slice of an answer, neither its own nor that of the route, and slices that come all the same are withheld', async () => {
  const seen: unknown[] = [];
  const part = (type: string, range: string | undefined, status: number) => (res: ServerResponse, value: string, req: IncomingMessage) => {
    seen.push(req.headers.range, req.headers['if-range']);
    res.writeHead(status, { 'content-type': type, ...(range && { 'content-range': range }) }).end(value.slice(0, 9));
  };
  const { w, upstream, of } = await reflecting({
    slice: part('text/plain', 'bytes 0-8/21', 206),
    'a range': part('text/plain', 'bytes 0-8/21', 200),
    ranges: part('multipart/byteranges; boundary=b', undefined, 200),
  });
  const headers = ['Range', 'rAnGe', 'If-Range'].map((name) => ({ name, value: 'bytes=0-8' }));
  for (const name of ['slice', 'a range', 'ranges']) {
    const report = await of(name, { headers });
    assert.deepEqual([report.response.body, report.response.withheld_reason], ['', 'partial'], name);
    assert.match(report.warnings.join(), /Range/);
    assert.ok(!report.request.headers.some((h: { name: string }) => /range/i.test(h.name)), 'it is not shown as sent either');
  }
  const injecting = await makeRoute(w, 'slicing', upstream.url, {
    inject_query_json: { k: '{{secret:WIDE}}' },
    inject_headers_json: { RANGE: 'bytes=0-8' },
  });
  const report = await tried(w.live, { id: injecting.id, path: '/slice' });
  assert.match(report.warnings.join(), /Range/);
  assert.deepEqual(new Set(seen), new Set([undefined]));
});

test('an answer that breaks off in the middle of the secret does not end with its beginning', async () => {
  const { of } = await reflecting({
    half: (res, value) => {
      const half = `${'x'.repeat(400)}${value.slice(0, 14)}`;
      res.writeHead(200, { 'content-type': 'text/event-stream' }).write(half, () => setImmediate(() => res.destroy()));
    },
  });
  const { response } = await of('half');
  assert.ok(response.truncated && response.body.startsWith('xxx') && !response.body.includes('sk-'), response.body);
});

test('a list of guesses comes back as it was written: what is masked tells nothing of a secret that may not be read', async () => {
  const w = await workspace();
  const upstream = await startUpstream();
  await makeSecret(w, 'PIN', { production: '4711' });
  await makeSecret(w, 'WORD', { production: 'dragonfly' });
  const collection = await db().collections.create({
    data: { id: newId(), tenant_id: w.tenant.id, sandbox: false, name: 'c', slug: 'c' },
  });
  const secret = await db().secrets.findFirstOrThrow({ where: { tenant_id: w.tenant.id, name: 'WORD' } });
  const variable = (key: string, more: object) =>
    db().collection_variables.create({
      data: { id: newId(), tenant_id: w.tenant.id, sandbox: false, collection_id: collection.id, key, ...more } as never,
    });
  await variable('guess', { type: 'value', value: '4711' });
  await variable('word', { type: 'secret', secret_id: secret.id });
  const route = await makeRoute(
    w,
    'guessed',
    upstream.url,
    {
      inject_headers_json: { 'X-Pin': 'pin {{secret:PIN}}', 'X-Var': '{{var:guess}} {{var:word}}' },
      inject_query_json: { pin: '{{secret:PIN}}' },
      inject_body_json: { pin: '{{secret:PIN}}' },
    },
    { collectionId: collection.id },
  );
  const { request } = await tried(w.member('editor'), {
    id: route.slug,
    method: 'POST',
    dry_run: true,
    path: '/4710/4711/dragonfly?q=4711',
    headers: [
      { name: 'Content-Type', value: 'application/json' },
      { name: 'X-Guess', value: '4709 4710 4711 4712 dragonfly' },
    ],
    body: '{"guess":["4710","4711","dragonfly"],"asked":"{{secret:WORD}}"}',
  });
  const header = (wanted: string) => request.headers.find(({ name }: { name: string }) => name === wanted)?.value;
  assert.equal(header('X-Guess'), '4709 4710 4711 4712 dragonfly');
  assert.equal(header('X-Pin'), 'pin [redacted:secret:PIN]');
  assert.equal(header('X-Var'), '4711 [redacted:secret:WORD]');
  assert.equal(new URL(request.url).pathname, '/4710/4711/dragonfly');
  assert.ok(request.url.endsWith('?q=4711&pin=[redacted:secret:PIN]'), request.url);
  assert.deepEqual(JSON.parse(request.body), {
    guess: ['4710', '4711', 'dragonfly'],
    asked: '[redacted:secret:WORD]',
    pin: '[redacted:secret:PIN]',
  });
});

test('an environment that is no name is refused before anything is written, and no program calls by way of trials', async () => {
  const w = await workspace();
  const upstream = await startUpstream();
  const route = await makeRoute(w, 'hands', upstream.url);
  const editor = w.member('editor');
  for (const environment of ['a\r\nX-Svc-Key: b', 'staging ☃', 'x\0'])
    await assert.rejects(tried(editor, { id: route.id, environment }), { type: 'validation_error' });
  assert.equal(await db().audit_logs.count({ where: { tenant_id: w.tenant.id } }), 0);
  const now = new Date(Math.floor(Date.now() / 60_000) * 60_000); // one minute, however slow the machine
  const once = (ctx: Ctx) => execute(ops.test, { ...ctx, now }, { id: route.id, method: 'GET', dry_run: true });
  for (let i = 0; i < 60; i++) await once(editor);
  await assert.rejects(once(editor), { type: 'rate_limited' });
  await once(w.member('editor'));
  assert.equal(await db().audit_logs.count({ where: { tenant_id: w.tenant.id } }), 61);
});

test('a dry run shows the request that would leave, sends nothing, counts nothing and leaves no call in the log', async () => {
  const w = await workspace();
  const upstream = await startUpstream();
  await makeSecret(w, 'TOKEN', { production: 'a-long-enough-value' });
  const route = await makeRoute(w, 'dry', upstream.url, {
    inject_headers_json: { Authorization: 'Bearer {{secret:TOKEN}}' },
    rate_limit_enabled: true,
    rate_limit_requests: 1,
    rate_limit_window_sec: 3600,
  });
  for (let i = 0; i < 3; i++) {
    const report = await tried(w.live, { id: route.id, path: '/x', dry_run: true });
    assert.deepEqual([report.refusal, report.response, report.request.url, report.dry_run], [null, null, `${upstream.url}/x`, true]);
    assert.equal(report.request.headers.find((h: { name: string }) => h.name === 'Authorization').value, 'Bearer [redacted:secret:TOKEN]');
  }
  assert.equal(upstream.seen.length, 0);
  await running.flush();
  assert.equal((await rowsOf(w.tenant.id)).length, 0);
  assert.equal(await db().audit_logs.count({ where: { tenant_id: w.tenant.id, action: 'execute' } }), 3, 'the audit log has them all');
});

test('methods, limits, targets and secrets are judged as for any caller; who may call is told and not asked', async () => {
  const w = await workspace();
  const upstream = await startUpstream();
  const route = await makeRoute(w, 'strict', upstream.url, {
    requires_clients: true,
    ip_allowlist: ['203.0.113.0/24'],
    allowed_methods: ['GET'],
    require_signature: true,
    signature_scheme: 'rfc9421',
    http_method_restrictions_enabled: true,
    rate_limit_enabled: true,
    rate_limit_requests: 2,
    rate_limit_window_sec: 3600,
  });
  const first = await tried(w.live, { id: route.id });
  assert.deepEqual(first.checks, {
    requires_clients: { required: true, met: false, client: null },
    ip_allowlist: { required: true, met: false },
    require_signature: { required: true, scheme: 'rfc9421' },
  });
  assert.equal(first.response.status, 200);
  assert.equal((await tried(w.live, { id: route.id, method: 'DELETE' })).refusal.code, 'method_not_allowed');
  assert.equal((await tried(w.live, { id: route.id, path: '/../admin' })).refusal.code, 'invalid_path');
  await tried(w.live, { id: route.id });
  const limited = await tried(w.live, { id: route.id });
  assert.deepEqual([limited.refusal.status, limited.refusal.code, limited.request], [429, 'route_rate_limit_exceeded', null]);
  assert.equal(upstream.seen.length, 2);
  const counter = await db().usage_counters.findFirst({ where: { tenant_id: w.tenant.id } });
  await running.flush();
  assert.equal(Number(counter?.n ?? 0), 0, 'the month is not counted');

  const missing = await makeRoute(w, 'missing', upstream.url, { inject_headers_json: { A: '{{secret:NOWHERE}}' } });
  assert.equal((await tried(w.live, { id: missing.id })).refusal.code, 'secret_not_found');
  const nobody = await makeRoute(w, 'nobody', 'http://127.0.0.1:9');
  const gone = await tried(w.live, { id: nobody.id });
  assert.deepEqual([gone.refusal.code, gone.response.status, gone.request.url], ['upstream_unreachable', 502, 'http://127.0.0.1:9/']);
  assert.equal((await tried(w.live, { id: nobody.id, environment: 'staging' })).refusal.code, 'environment_not_configured');
  const off = await makeRoute(w, 'off', upstream.url, {}, { enabled: false });
  assert.equal((await tried(w.live, { id: off.id })).refusal.code, 'route_not_found');
});

test('what was saved a moment ago is what is tried', async () => {
  const w = await workspace();
  const [one, two] = [await startUpstream(), await startUpstream()];
  const { output: route } = (await execute(ops.create, w.live, { name: 'now', target_base_url: one.url })) as { output: { id: string } };
  await tried(w.live, { id: route.id });
  await execute(ops.update, w.live, { id: route.id, target_base_url: two.url });
  await tried(w.live, { id: route.id });
  assert.deepEqual([one.seen.length, two.seen.length], [1, 1]);
});

test('a trial cannot be ordered without the token, nor be claimed from a public port, nor carry headers that are ours', async () => {
  const w = await workspace();
  const upstream = await startUpstream();
  const route = await makeRoute(w, 'private', upstream.url);
  const order = (headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      const req = request(
        { socketPath: controlSocketPath(), method: 'POST', path: '/trials', headers: { host: 'x', ...headers } },
        (res) => {
          res.resume();
          resolve(res.statusCode);
        },
      );
      req.on('error', reject);
      req.end('{}');
    });
  assert.equal(await order({}), 403);
  assert.equal(await order({ 'x-sallyport-front': 'a'.repeat(43) }), 403);
  assert.equal(await order({ 'x-svc-trial': crypto.randomUUID() }), 403);
  await until(async () => running.runtime.snapshots.byId(w.tenant.id) !== undefined);
  const stranger = await ask(running.port, w.tenant.slug, '/private', { headers: { 'x-svc-trial': crypto.randomUUID() } });
  assert.equal(stranger.status, 401);
  for (const name of ['X-Svc-Key', 'Host', 'Content-Length', 'Transfer-Encoding', 'Expect', 'Upgrade'])
    await assert.rejects(tried(w.live, { id: route.id, headers: [{ name, value: '1' }] }), { type: 'validation_error' });
  assert.equal(upstream.seen.length, 0);
});

test('only Editors and up may try a route, and only their own', async () => {
  const [w, other] = [await workspace(), await workspace()];
  const upstream = await startUpstream();
  const route = await makeRoute(w, 'mine', upstream.url);
  for (const role of ['viewer', 'member'] as const)
    await assert.rejects(perform(ops.test, w.member(role), { id: route.id, method: 'GET' }), { type: 'role_denied' });
  for (const ctx of [other.live, w.test]) await assert.rejects(tried(ctx, { id: route.id }), { type: 'not_found' });
  assert.equal(upstream.seen.length, 0);
  assert.equal((await tried(w.member('editor'), { id: route.id })).response.status, 200);
});

test('a long answer is shown up to its first 256 KiB, with a secret across the edge masked whole', async () => {
  const w = await workspace();
  const value = 'edge-secret-value';
  const upstream = await startUpstream((_, res) => {
    const filler = 'x'.repeat(256 * 1024 - 8);
    res.writeHead(200, { 'content-type': 'text/plain' }).end(`${filler}${value}${'y'.repeat(100_000)}`);
  });
  await makeSecret(w, 'EDGE', { production: value });
  const route = await makeRoute(w, 'long', upstream.url, { inject_headers_json: { A: '{{secret:EDGE}}' } });
  const { response } = await tried(w.live, { id: route.id });
  assert.deepEqual([response.truncated, response.body_encoding, response.body.length], [true, 'text', 256 * 1024]);
  assert.ok(response.body.endsWith('[redacte'), response.body.slice(-20));
});
