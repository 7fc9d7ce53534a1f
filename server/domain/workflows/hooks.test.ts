import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { after } from 'node:test';
import { sign as octokitSign } from '@octokit/webhooks-methods';
import Stripe from 'stripe';
import { handleWorkflowHook } from '#server/api/workflow-hooks.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { db } from '#server/platform/db.ts';
import { env } from '#server/platform/env.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { onFileEnd } from '#server/testing/file-end.ts';
import { stillClock } from '#server/testing/still-clock.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { startWorkflows } from './engine/worker.ts';
import { revealHook } from './hooks.ts';
import { chain, hooked, node } from './samples.fixture.ts';

await ownDatabase();

/** The handler on a real socket, as the front door forwards to it. */
const server = createServer((req, res) => {
  const body = req.method === 'GET' || req.method === 'HEAD' ? undefined : (req as unknown as ReadableStream);
  const headers = Object.entries(req.headers).map(([name, value]) => [name, String(value)] as [string, string]);
  const request = new Request(`http://hooks.test/hooks${req.url}`, {
    method: req.method ?? 'GET',
    headers,
    ...(body && { body, duplex: 'half' }),
  } as RequestInit);
  const edge = { space: 'live', ip: '203.0.113.9', request_id: randomUUID(), user_agent: req.headers['user-agent'] ?? null } as const;
  void handleWorkflowHook(request, edge).then(async (answer) => {
    res.writeHead(answer.status, Object.fromEntries(answer.headers));
    res.end(Buffer.from(await answer.arrayBuffer()));
  });
});
await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
const { port } = server.address() as AddressInfo;
onFileEnd(async () => void server.close());
after(() => server.closeAllConnections());

/** A workflow that is on, and the path of its URL. */
async function hook(ctx: Ctx, config: Record<string, unknown> = {}, definition = hooked(config)) {
  const { id, enabled } = await made(ctx, 'workflows.create', { name: fresh('workflow'), definition, enabled: true });
  assert.equal(enabled, true);
  return { id, path: await pathOf(ctx, id) };
}
async function pathOf(ctx: Ctx, id: string) {
  const { url } = await revealHook(ctx, { id });
  assert.ok(url.startsWith(`${env.PUBLIC_HOOKS_URL}/wf/`));
  return url.slice(String(env.PUBLIC_HOOKS_URL).length);
}

const send = async (path: string, init: RequestInit = {}) => {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', redirect: 'manual', ...init });
  const text = await answer.text();
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    body: /json/.test(answer.headers.get('content-type') ?? '') && text ? JSON.parse(text) : null,
  };
};
const json = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json', ...headers },
});
/** What the trigger of a run gave, as the run shows it. */
async function givenTo(ctx: Ctx, id: string) {
  const workers = startWorkflows({ pauseMs: 20 });
  try {
    const run = await until(async () => {
      const seen = await made(ctx, 'workflows.get_execution', { id });
      return (seen.status === 'completed' || seen.status === 'failed') && seen;
    }, 'the run ends');
    return { run, given: run.node_executions.find((one: { node_id: string }) => one.node_id === 'trigger-node').output };
  } finally {
    await workers.stop();
  }
}
const secretIn = async (ctx: Ctx, value: string) => {
  const name = fresh('HOOK').replaceAll('-', '_');
  await made(ctx, 'secrets.create', { name, value });
  return `{{secret:${name}}}`;
};

test('a call starts a run with its body, its query and harmless headers alone', async () => {
  const w = await workspace();
  const { id, path } = await hook(w.live);
  const { status, body } = await send(
    `${path}?from=test`,
    json(
      { name: 'Ada' },
      { 'x-event': 'order', 'x-forwarded-for': '10.0.0.1', 'x-api-key': 'canary-1', authorization: 'Bearer canary-2', cookie: 'canary-3' },
    ),
  );
  assert.deepEqual([status, body.data.status, Object.keys(body)], [202, 'queued', ['data']]);
  const { run, given } = await givenTo(w.live, body.data.execution_id);
  assert.deepEqual([run.status, run.workflow_id, run.trigger_type], ['completed', id, 'webhook']);
  const { headers, timestamp, ...rest } = given;
  assert.ok(Math.abs(Date.now() - Date.parse(timestamp)) < 60_000);
  assert.deepEqual(rest, { type: 'webhook', data: { name: 'Ada' }, method: 'POST', query: { from: 'test' }, ip: '203.0.113.9' });
  assert.deepEqual([headers['content-type'], headers['x-event']], ['application/json', 'order']);
  assert.deepEqual(
    Object.keys(headers).filter((name) => name.startsWith('x-')),
    ['x-event'],
  );
  assert.doesNotMatch(JSON.stringify(run), /canary-/);
  assert.deepEqual(run.node_executions.find((one: { node_id: string }) => one.node_id === 'greet').output, { text: 'Hello Ada' });
});

test('unknown, disabled, deleted, rotated, of another trigger, and of a workspace that is not served: one answer', async () => {
  const w = await workspace();
  const [off, gone, turned, other] = [await hook(w.live), await hook(w.live), await hook(w.live), await hook(w.live)];
  await made(w.live, 'workflows.update', { id: off.id, enabled: false });
  await made(w.live, 'workflows.delete', { id: gone.id });
  await made(w.member('owner'), 'workflows.rotate_webhook_url', { id: turned.id });
  await made(w.live, 'workflows.update', { id: other.id, trigger_config: { triggerType: 'manual' } });
  const paused = await workspace();
  const theirs = await hook(paused.live);
  await db().tenants.update({ where: { id: paused.tenant.id }, data: { subscription_status: 'paused' } });
  const paths = [
    off.path,
    gone.path,
    turned.path,
    other.path,
    theirs.path,
    `/wf/${'A'.repeat(43)}`,
    '/wf/x',
    '/wf/../../v1/account',
    `${off.path}/more`,
  ];
  const answers = new Set<string>();
  for (const path of paths) {
    const { status, body } = await send(path, json({}));
    const { request_id, ...error } = body.error;
    assert.ok(request_id);
    answers.add(JSON.stringify([status, error]));
  }
  assert.equal(answers.size, 1, [...answers].join('\n'));
  assert.match([...answers][0] as string, /^\[404,\{"type":"not_found"/);
  assert.equal((await send(await pathOf(w.live, turned.id), json({}))).status, 202, 'the new URL works');
});

test('another method is refused with those that work; a body that is too large or no JSON starts nothing', async () => {
  const w = await workspace();
  const { id, path } = await hook(w.live);
  const wrong = await send(path, { method: 'GET' });
  assert.deepEqual([wrong.status, wrong.headers.get('allow'), wrong.body.error.type], [405, 'POST', 'method_not_allowed']);
  assert.equal((await send(path, { method: 'DELETE' })).status, 405);
  assert.equal((await send(path, json('x'.repeat(1024 * 1024)))).status, 413);
  for (const body of ['{', '['.repeat(100) + ']'.repeat(100), '['.repeat(200_000)])
    assert.equal((await send(path, { body, headers: { 'content-type': 'application/json' } })).status, 400, body.slice(0, 10));
  assert.equal(await db().workflow_executions.count({ where: { workflow_id: id } }), 0);
  const form = await send(path, { body: new URLSearchParams({ name: 'Ben' }) });
  assert.deepEqual((await givenTo(w.live, form.body.data.execution_id)).given.data, { name: 'Ben' });
  const text = await send(path, { body: 'plain', headers: { 'content-type': 'text/plain' } });
  assert.equal((await givenTo(w.live, text.body.data.execution_id)).given.data, 'plain');
});

test('a GET gives its query, and echoes no challenge', async () => {
  const w = await workspace();
  const { path } = await hook(w.live, { method: 'GET' });
  const { status, text, body } = await send(`${path}?challenge=echo-me-77&a=1`, { method: 'GET' });
  assert.equal(status, 202);
  assert.doesNotMatch(text, /echo-me-77/);
  assert.deepEqual((await givenTo(w.live, body.data.execution_id)).given.data, { challenge: 'echo-me-77', a: '1' });
});

test('a header that authenticates is compared whole, and the workflow never sees it', async () => {
  const w = await workspace();
  const { path } = await hook(w.live, { auth: { type: 'header', name: 'X-Token', secret: await secretIn(w.live, 'canary-token-9') } });
  for (const headers of [
    {},
    { 'x-token': 'canary-token-' },
    { 'x-token': 'canary-token-99' },
    { 'x-token': '' },
    { authorization: 'canary-token-9' },
  ])
    assert.equal((await send(path, json({}, headers as Record<string, string>))).status, 401);
  const taken = await send(path, json({}, { 'x-token': 'canary-token-9' }));
  assert.equal(taken.status, 202);
  const { run } = await givenTo(w.live, taken.body.data.execution_id);
  assert.doesNotMatch(JSON.stringify(run), /canary-token-9/);
});

test('signatures of each format are verified over the bytes, against other implementations', async () => {
  const w = await workspace();
  const key = 'whsec_0123456789abcdefghijklmnop';
  const secret = await secretIn(w.live, key);
  const body = JSON.stringify({ name: 'Ada', at: 'é' });
  const hex = (text: string) => createHmac('sha256', key).update(text).digest('hex');
  const now = Math.floor(Date.now() / 1_000);
  const stripe = (timestamp: number, more: object = {}) =>
    Stripe.webhooks.generateTestHeaderString({ payload: body, secret: key, timestamp, ...more });
  const valid: Record<string, Record<string, string>> = {
    github: { 'x-hub-signature-256': await octokitSign(key, body) },
    legacy: { 'x-webhook-signature': `sha256=${hex(body)}` },
    'aws-sns': { 'x-amz-sns-signature': createHmac('sha256', key).update(body).digest('base64') },
    custom: { 'x-mine': `sha256=${hex(body)}` },
    stripe: { 'stripe-signature': `${stripe(now)},v1=${'0'.repeat(64)},v0=abc` },
    slack: { 'x-slack-signature': `v0=${hex(`v0:${now}:${body}`)}`, 'x-slack-request-timestamp': String(now) },
  };
  for (const [format, headers] of Object.entries(valid)) {
    const { path } = await hook(w.live, { auth: { type: 'hmac', format, secret, ...(format === 'custom' ? { header: 'X-Mine' } : {}) } });
    const at = (text: string, given: Record<string, string>) =>
      send(path, { body: text, headers: { 'content-type': 'application/json', ...given } });
    assert.equal((await at(`${body} `, headers)).status, 401, `${format}: other bytes`);
    assert.equal((await at(body, {})).status, 401, `${format}: no signature`);
    const spoilt = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, `${value.slice(0, 20)}${value[20] === '0' ? '1' : '0'}${value.slice(21)}x`]),
    );
    assert.equal((await at(body, spoilt)).status, 401, `${format}: another signature`);
    assert.equal((await at(body, headers)).status, 202, format);
    // What signs a time is good for one call.
    assert.equal((await at(body, headers)).status, format === 'stripe' || format === 'slack' ? 401 : 202, `${format}: replayed`);
    if (format === 'stripe')
      for (const off of [-310, 310])
        assert.equal((await at(body, { 'stripe-signature': stripe(now + off) })).status, 401, `signed ${off} s from now`);
    if (format === 'slack')
      assert.equal(
        (await at(body, { 'x-slack-signature': `v0=${hex(`v0:${now - 400}:${body}`)}`, 'x-slack-request-timestamp': String(now - 400) }))
          .status,
        401,
      );
  }
});

test('a query is signed by no format, and a secret that a URL needs stays as long as it does', async () => {
  const w = await workspace();
  const name = fresh('HOOK').replaceAll('-', '_');
  const { id: secretId } = await made(w.live, 'secrets.create', { name, value: 'k'.repeat(32) });
  const auth = { type: 'hmac', format: 'github', secret: `{{secret:${name}}}` };
  const { path } = await hook(w.live, { method: 'any', auth });
  const empty = await octokitSign('k'.repeat(32), ' ');
  assert.equal((await send(`${path}?a=1`, { method: 'GET', headers: { 'x-hub-signature-256': empty } })).status, 401);
  assert.equal((await send(path, { body: ' ', headers: { 'x-hub-signature-256': empty } })).status, 202);
  await assert.rejects(made(w.live, 'secrets.delete', { id: secretId }), { type: 'in_use' });
});

test('sixty calls a minute, each workflow by itself; who does not authenticate uses none of them', async (t) => {
  stillClock(t);
  const w = await workspace();
  const [busy, calm] = [
    await hook(w.live, { auth: { type: 'header', name: 'X-Token', secret: await secretIn(w.live, 'right') } }),
    await hook(w.live),
  ];
  for (let n = 0; n < 5; n++) assert.equal((await send(busy.path, json({}, { 'x-token': 'wrong' }))).status, 401);
  for (let n = 0; n < 60; n++) assert.equal((await send(busy.path, json({}, { 'x-token': 'right' }))).status, 202, `call ${n}`);
  const refused = await send(busy.path, json({}, { 'x-token': 'right' }));
  assert.deepEqual([refused.status, refused.body.error.type], [429, 'rate_limit_exceeded']);
  assert.ok(Number(refused.headers.get('retry-after')) >= 1);
  assert.equal((await send(calm.path, json({}))).status, 202);
});

test('a URL of Test starts runs of Test alone', async () => {
  const w = await workspace();
  const { id, path } = await hook(w.test);
  const { body } = await send(path, json({}));
  const run = await db().workflow_executions.findUniqueOrThrow({ where: { id: body.data.execution_id } });
  assert.deepEqual([run.sandbox, run.workflow_id], [true, id]);
  await assert.rejects(made(w.live, 'workflows.get_execution', { id: run.id }), { type: 'not_found' });
});

test('in mode sync the caller gets the answer of set_response, which can set no cookie and no page of the host', async () => {
  const w = await workspace();
  const response = {
    status: 201,
    headers: {
      'Content-Type': 'text/html',
      'Set-Cookie': 'a=b',
      'X-Order': '{{trigger.data.order}}',
      'X-Request-Id': 'mine',
      'Transfer-Encoding': 'chunked',
    },
    body: '<b>{{trigger.data.order}}</b>',
  };
  const definition = chain({ triggerType: 'webhook', mode: 'sync' }, node('answer', 'set_response', response));
  const { path } = await hook(w.live, {}, definition);
  const workers = startWorkflows({ pauseMs: 20 });
  try {
    const { status, headers, text } = await send(path, json({ order: 7 }));
    assert.deepEqual([status, text, headers.get('x-order'), headers.get('set-cookie')], [201, '<b>7</b>', '7', null]);
    assert.notEqual(headers.get('x-request-id'), 'mine');
    assert.match(headers.get('content-security-policy') ?? '', /sandbox/);
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    const silent = await hook(
      w.live,
      {},
      chain({ triggerType: 'webhook', mode: 'sync' }, node('greet', 'transform', { fields: { a: 1 } })),
    );
    const without = await send(silent.path, json({}));
    assert.deepEqual([without.status, without.body.data.status], [202, 'completed']);
  } finally {
    await workers.stop();
  }
});

test('the token of a URL is stored sealed and as a digest, and stands in no entry', async () => {
  const w = await workspace();
  const { id, path } = await hook(w.live);
  const token = path.slice('/wf/'.length);
  const row = await db().workflow_hooks.findUniqueOrThrow({ where: { workflow_id: id } });
  assert.ok(!Buffer.from(row.value_ct).includes(token) && row.token_hash.length === 32);
  await made(w.member('owner'), 'workflows.rotate_webhook_url', { id });
  assert.doesNotMatch(
    JSON.stringify(await db().audit_logs.findMany({ where: { resource_id: id }, select: { details: true } })),
    new RegExp(token),
  );
  assert.notEqual(await pathOf(w.live, id), path);
});
