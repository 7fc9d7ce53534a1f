import assert from 'node:assert/strict';
import { request } from 'node:http';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { execute, perform } from '#server/api/perform.ts';
import * as ops from '#server/domain/routes/operations.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { deskSocket } from '#server/platform/gateway-desk.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ask, makeRoute, makeSecret, startGateway, startUpstream, until } from '../gateway.fixture.ts';

await testDatabase();
const running = await startGateway();
await running.desk.listen(deskSocket());

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
  await makeSecret(w, 'PIN', { production: '4711' });
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
  assert.equal(seen?.url, '/v1/things?a=1&b%20c=%C3%BC&pin=4711');
  assert.deepEqual(JSON.parse(seen?.body ?? ''), { amount: 5, card: { pin: '4711' } });
  const text = JSON.stringify(report);
  for (const form of [
    'sk-live-3f9a-plain',
    Buffer.from('sk-live-3f9a-plain').toString('base64'),
    Buffer.from('sk-live-3f9a-plain').toString('hex'),
  ])
    assert.ok(!text.includes(form), `${form} is shown`);
  assert.ok(!JSON.stringify(report.request).includes('4711'), 'in what was put in, short values are masked too');
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

test('values beyond ASCII, compressed and binary answers are masked, and what cannot be opened is withheld', async () => {
  const w = await workspace();
  const upstream = await startUpstream((req, res) => {
    if (req.url === '/gzip') return void res.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(`it is ${VALUE}!`));
    if (req.url === '/odd') return void res.writeHead(200, { 'content-encoding': 'rot13' }).end(VALUE);
    res.writeHead(200).end(Buffer.concat([Buffer.from([0, 1, 255]), Buffer.from(VALUE), Buffer.from([0])]));
  });
  await makeSecret(w, 'WIDE', { production: VALUE });
  const route = await makeRoute(w, 'bytes', upstream.url, { inject_query_json: { k: '{{secret:WIDE}}' } });
  const of = async (path: string) => (await tried(w.live, { id: route.id, path })).response;
  // The injected query makes every path differ: the upstream looks at the front of it only.
  upstream.server.prependListener('request', (req) => {
    req.url = req.url?.split('?')[0] ?? '';
  });
  const gzip = await of('/gzip');
  assert.deepEqual([gzip.body, gzip.body_encoding], ['it is [redacted:secret:WIDE]!', 'text']);
  const odd = await of('/odd');
  assert.deepEqual([odd.body, odd.body_encoding], ['', 'withheld']);
  const binary = await of('/binary');
  assert.equal(binary.body_encoding, 'base64');
  const bytes = Buffer.from(binary.body, 'base64');
  assert.ok(!bytes.includes(Buffer.from(VALUE)) && bytes.includes('[redacted:secret:WIDE]'));
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
    http_method_restrictions_enabled: true,
    rate_limit_enabled: true,
    rate_limit_requests: 2,
    rate_limit_window_sec: 3600,
  });
  const first = await tried(w.live, { id: route.id });
  assert.deepEqual(first.checks, {
    requires_clients: { required: true, met: false, client: null },
    ip_allowlist: { required: true, met: false },
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
      const req = request({ socketPath: deskSocket(), method: 'POST', path: '/trials', headers: { host: 'x', ...headers } }, (res) => {
        res.resume();
        resolve(res.statusCode);
      });
      req.on('error', reject);
      req.end('{}');
    });
  assert.equal(await order({}), 403);
  assert.equal(await order({ 'x-sallyport-front': 'a'.repeat(43) }), 403);
  assert.equal(await order({ 'x-svc-trial': crypto.randomUUID() }), 403);
  await until(async () => running.plane.snapshots.byId(w.tenant.id) !== undefined);
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
