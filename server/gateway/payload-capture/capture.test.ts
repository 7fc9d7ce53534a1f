import assert from 'node:assert/strict';
import test from 'node:test';
import { sweepLeases } from '#server/domain/leases/service.ts';
import { leases } from '#server/domain/routes/leases.ts';
import { BODY, captureRequest } from '#server/domain/routes/payload-capture/captured.fixture.ts';
import { revealCapture } from '#server/domain/routes/payload-capture/reveal.ts';
import * as service from '#server/domain/routes/payload-capture/service.ts';
import { deleteRoute, getRoute } from '#server/domain/routes/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { db } from '#server/platform/db.ts';
import { dashboardPerson } from '#server/testing/dashboard.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { verified } from '#server/testing/step-up.ts';
import { stillClock } from '#server/testing/still-clock.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ask, makeRoute, served, startGateway, startUpstream } from '../gateway.fixture.ts';

await ownDatabase();
const running = await startGateway();
const { port } = running;
const upstream = await startUpstream();
const JSON_TYPE = { 'content-type': 'application/json' };
const later = (ctx: Ctx, ms: number): Ctx => ({ ...ctx, now: new Date(Date.now() + ms) });

async function linked() {
  const w = await workspace();
  const ctx = w.member('owner');
  const route = await makeRoute(w, 'r', upstream.url);
  await served(running, w);
  const start = () => service.startCapture({ ...ctx, now: new Date() }, { id: route.id });
  const send = (
    token: string,
    { body = BODY as string | Buffer, headers = JSON_TYPE as Record<string, string>, path = '', host = w.tenant.slug } = {},
  ) => ask(port, host, `/_capture/${token}${path}`, { method: 'POST', body, headers });
  const status = (token: string, at: Ctx = ctx) =>
    service.captureStatus({ ...at, now: at === ctx ? new Date() : at.now }, { id: route.id, token });
  return { w, ctx, route, start, send, status };
}

test('a link takes one request without any credential, keeps it sealed, and never sends it on', async () => {
  const { w, ctx, route, start, send, status } = await linked();
  const { token, capture_url } = await start();
  assert.match(capture_url, new RegExp(`/_capture/${token}$`));
  assert.equal((await status(token)).state, 'waiting');
  const answer = await send(token, { headers: { ...JSON_TYPE, authorization: 'Bearer x', 'x-kept': 'yes' }, path: '/any/path?x=1' });
  assert.deepEqual([answer.status, answer.json()], [200, { captured: true }]);
  assert.equal(upstream.seen.length, 0);
  const told = await status(token);
  assert.deepEqual([told.state, told.content_type, told.bytes], ['captured', 'application/json', BODY.length]);
  assert.deepEqual(told.structure, { card: { number: 'string' }, amount: 'number' });
  const row = await db().payload_captures.findFirstOrThrow({ where: { route_id: route.id } });
  assert.ok(!JSON.stringify(row).includes(token) && !Buffer.from(row.value_ct!).includes('4111'));
  const shown = await revealCapture({ ...ctx, now: new Date() }, { id: route.id, token });
  const header = (name: string) => shown.headers.find((h) => h.name.toLowerCase() === name)?.value;
  assert.deepEqual([shown.method, shown.body, header('authorization'), header('x-kept')], ['POST', BODY, '[redacted]', 'yes']);
  await running.flush();
  assert.equal(await db().request_logs.count({ where: { tenant_id: w.tenant.id } }), 0, 'its path is a credential');
});

test('unknown, used, expired and foreign links are one answer, and so is a link of the other space', async () => {
  const { start, send } = await linked();
  const other = await linked();
  const [used, expired, foreign] = [await start(), await other.start(), await other.start()];
  await send(used.token);
  const words = async (answer: ReturnType<typeof send>) => {
    const { status, body } = await answer;
    const { error } = JSON.parse(body);
    return [status, error.type, error.message];
  };
  const unknown = await words(send('x'.repeat(43)));
  assert.deepEqual(unknown.slice(0, 2), [404, 'not_found']);
  // A new link of the same environment ends the one before.
  assert.deepEqual(await words(other.send(expired.token)), unknown);
  assert.deepEqual(await words(send(used.token)), unknown);
  assert.deepEqual(await words(send(foreign.token)), unknown);
  assert.deepEqual(await words(other.send(foreign.token, { host: `sandbox-${other.w.tenant.slug}` })), unknown);
  await db().payload_captures.updateMany({ where: { tenant_id: other.w.tenant.id }, data: { expires_at: new Date(Date.now() - 1) } });
  assert.deepEqual(await words(other.send(foreign.token)), unknown);
  assert.deepEqual(await words(send('short')), unknown);
});

test('only JSON and forms of at most 1 MiB are taken, a refused one leaves the link usable, and one address sends twenty a minute', async (t) => {
  stillClock(t);
  const { start, send, status } = await linked();
  const { token } = await start();
  const code = async (over: Parameters<typeof send>[1]) => (await send(token, over)).status;
  assert.equal(await code({ body: '{"a":' }), 400);
  assert.equal(await code({ headers: { 'content-type': 'image/png' } }), 415);
  assert.equal(await code({ headers: { ...JSON_TYPE, 'content-encoding': 'gzip' } }), 415);
  assert.equal(await code({ body: Buffer.alloc(1024 * 1024 + 1, 'x') }), 413);
  assert.equal((await status(token)).state, 'waiting');
  const [one, two] = await Promise.all(
    [1, 2].map((n) => code({ body: `a=${n}`, headers: { 'content-type': 'application/x-www-form-urlencoded' } })),
  );
  assert.deepEqual([one, two].sort(), [200, 404], 'of two at once one is kept');
  assert.deepEqual((await status(token)).structure, { a: 'string' });
  let last = 0;
  for (let i = 0; i < 25 && last !== 429; i++) last = await code({});
  assert.equal(last, 429);
});

test('its structure becomes the payload structure of its environment, which deletes the request', async () => {
  const { ctx, route, start } = await linked();
  const { token } = await start();
  const apply = () => service.applyCapture({ ...ctx, now: new Date() }, { id: route.id, token });
  await assert.rejects(apply(), { type: 'conflict' });
  await captureRequest(token);
  assert.equal((await apply()).state, 'consumed');
  const row = await db().payload_captures.findFirstOrThrow({ where: { route_id: route.id } });
  assert.deepEqual([row.state, row.value_ct, row.cek_wrapped], ['consumed', null, null]);
  assert.deepEqual((await getRoute(ctx, { id: route.id })).payload_structure, { card: { number: 'string' }, amount: 'number' });
  await assert.rejects(apply(), { type: 'capture_expired', status: 410 });
  const list = await start();
  await captureRequest(list.token, '[1]');
  await assert.rejects(service.applyCapture({ ...ctx, now: new Date() }, { id: route.id, token: list.token }), {
    type: 'validation_error',
  });
});

test('after five minutes nothing is left to reveal, and asking costs no confirmation; while it waits neither', async () => {
  const { w, ctx, route, start, status } = await linked();
  const person = await dashboardPerson();
  await person.join(w.tenant.id, 'admin');
  await verified({ user_id: person.user.id, session_id: person.session.id }, 'plaintext.reveal');
  const before = Date.now();
  const { token, expires_at } = await start();
  const made = expires_at.getTime() - 300_000;
  assert.ok(before <= made && made <= Date.now(), `${made - before} ms`);
  const check = () => person.call(`GET /admin/routes/${route.id}/check-payload-capture/${token}`, undefined, { workspace: w.tenant.id });
  const waiting = await check();
  assert.deepEqual([waiting.status, waiting.body.state], [200, 'waiting']);
  await captureRequest(token);
  assert.equal((await status(token, later(ctx, 301_000))).state, 'expired');
  await db().payload_captures.updateMany({ where: { route_id: route.id }, data: { expires_at: new Date(Date.now() - 1) } });
  const expired = await check();
  assert.deepEqual([expired.status, expired.body.code], [410, 'capture_expired']);
  assert.equal(await db().step_up_verifications.count({ where: { user_id: person.user.id, consumed_at: null } }), 1);
  await sweepLeases(leases, { db: db(), now: new Date() });
  const row = await db().payload_captures.findFirstOrThrow({ where: { route_id: route.id } });
  assert.deepEqual([row.state, row.value_ct], ['expired', null]);
  await sweepLeases(leases, { db: db(), now: new Date(Date.now() + 25 * 3_600_000) });
  assert.equal(await db().payload_captures.count({ where: { route_id: route.id } }), 0);

  const fresh = await start();
  await captureRequest(fresh.token);
  const shown = await person.call(`GET /admin/routes/${route.id}/check-payload-capture/${fresh.token}`, undefined, {
    workspace: w.tenant.id,
  });
  assert.deepEqual([shown.status, shown.body.state, shown.body.body], [200, 'captured', BODY]);
  await deleteRoute(ctx, { id: route.id });
  assert.equal(await db().payload_captures.count({ where: { tenant_id: w.tenant.id } }), 0);
});
