import assert from 'node:assert/strict';
import test from 'node:test';
import { frontDoorToken } from '#server/crypto/derive.ts';
import { call } from '#server/domain/request-logs/call.fixture.ts';
import { SANDBOX_LOG_DAYS } from '#server/domain/retention/service.ts';
import { insertRows } from '#server/gateway/core/log/insert.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { rootKeys } from '#server/platform/keys.ts';
import { sql } from '#server/platform/sql.ts';
import { dashboardPerson } from '#server/testing/dashboard.ts';
import { testDatabase } from '#server/testing/database.ts';
import { verified } from '#server/testing/step-up.ts';
import { workspace } from '#server/testing/workspace.ts';
import { handleDashboard } from '#server/trpc/dashboard.ts';
import { inspectLog } from '../browse.ts';
import { pruneRequestLogs } from '../retention.ts';
import { keepPayload, PAYLOAD } from './payloads.fixture.ts';

await testDatabase();
const DAY = 24 * 3_600_000;
const ago = (ms: number) => new Date(Date.now() - ms);

/** A call that is logged, with flags as the gateway sets them. */
async function logged(ctx: Parameters<typeof call>[0], payload_flags: number | null, ts = ago(2 * 60_000)): Promise<string> {
  const row = call(ctx, { payload_flags, ts: ts.toISOString() });
  await insertRows(sql(), [row]);
  return row.request_id;
}

test('everybody who sees a call is told what became of its payload, and nothing of what is in it', async () => {
  const w = await workspace({ plan: 'enterprise' });
  const ctx = w.member('viewer');
  const told = async (request_id: string) => {
    const { payload, payload_withheld, payload_meta } = await inspectLog({ ...ctx, now: new Date() }, { request_id });
    assert.deepEqual([payload, payload_withheld, payload_meta.captured], [null, true, payload_meta.state === 'captured']);
    return payload_meta;
  };
  assert.equal((await told(await logged(ctx, null))).state, 'not_captured');
  assert.equal((await told(await logged(ctx, 4))).state, 'lost');
  // Its row was written, and then the process died: nothing waits for ever.
  assert.equal((await told(await logged(ctx, 3))).state, 'lost');
  assert.equal((await told(await logged(ctx, 3, ago(5_000)))).state, 'pending');
  const old = await logged(ctx, 3, ago(31 * DAY));
  await keepPayload(ctx, old, { ts: ago(31 * DAY) });
  assert.equal((await told(old)).state, 'expired', 'also before the job has deleted it');
  const kept = await logged(ctx, 3);
  await keepPayload(ctx, kept);
  const meta = await told(kept);
  assert.deepEqual(
    [meta.state, meta.request_content_type, meta.request_bytes, meta.response_bytes, meta.truncated],
    ['captured', 'application/json', PAYLOAD.request.body?.length, PAYLOAD.response.body?.length, false],
  );
  const { log } = await inspectLog(ctx, { request_id: kept });
  assert.equal(meta.expires_at?.getTime(), log.ts.getTime() + 30 * DAY);
});

test('a payload is shown once for each confirmation, the file is another reveal, and nothing of either may be cached', async () => {
  const [w, person] = [await workspace(), await dashboardPerson()];
  await person.join(w.tenant.id, 'admin');
  const request_id = await logged(w.live, 3);
  const bytes = Buffer.from([0, 1, 2, 255]);
  const response = { ...PAYLOAD.response, body: bytes.toString('base64'), encoding: 'base64' as const };
  await keepPayload(w.live, request_id, { payload: { ...PAYLOAD, response } });
  const get = (path: string, space = 'live') =>
    handleDashboard(
      new Request(`http://admin.test/admin/logs/${path}`, {
        headers: {
          'x-sallyport-front': frontDoorToken(rootKeys().current),
          'x-sallyport-ip': '127.0.0.1',
          authorization: `Bearer ${person.session.token}`,
          'x-tenant-id': w.tenant.id,
          'x-svc-space': space,
        },
      }),
    );
  const confirm = () => verified({ user_id: person.user.id, session_id: person.session.id }, 'plaintext.reveal');
  const plain = await get(request_id);
  assert.deepEqual([plain.status, (await plain.json()).payload], [200, null]);

  await confirm();
  for (const path of [newId(), `${newId()}/file`, `${newId()}/file?part=request`])
    assert.equal((await get(`${path}${path.includes('file') ? '' : '?include=payload'}`)).status, 404);
  assert.equal((await get(`${request_id}?include=payload`, 'test')).status, 404, 'the other space');
  const bare = await logged(w.live, null);
  for (const path of [`${bare}?include=payload`, `${bare}/file`]) {
    const answer = await get(path);
    assert.deepEqual([answer.status, (await answer.json()).code], [404, 'payload_not_captured']);
  }
  const shown = await get(`${request_id}?include=payload`);
  assert.equal(shown.status, 200, 'none of these spent the confirmation');
  assert.equal(shown.headers.get('cache-control'), 'no-store, private, no-transform');
  const revealed = await shown.json();
  assert.deepEqual([revealed.payload_withheld, revealed.payload.request], [false, PAYLOAD.request]);
  assert.deepEqual(revealed.payload.response, response);

  const again = await get(`${request_id}/file`);
  assert.deepEqual([again.status, (await again.json()).code], [403, 'reveal_step_up_required']);
  await confirm();
  const file = await get(`${request_id}/file`);
  assert.deepEqual(Buffer.from(await file.arrayBuffer()), bytes);
  assert.deepEqual(
    ['content-type', 'content-disposition', 'x-content-type-options', 'cache-control'].map((name) => file.headers.get(name)),
    ['application/octet-stream', `attachment; filename="${request_id}-response.bin"`, 'nosniff', 'no-store, private, no-transform'],
  );
  const entries = await db().audit_logs.findMany({
    where: { tenant_id: w.tenant.id, action: 'plaintext.reveal' },
    orderBy: { seq: 'asc' },
  });
  assert.deepEqual(
    entries.map(({ resource_type, resource_id }) => [resource_type, resource_id]),
    [
      ['request_log', request_id],
      ['request_log', request_id],
    ],
  );
  assert.ok(!JSON.stringify(entries, (_, v) => (typeof v === 'bigint' ? String(v) : v)).includes('kept-request'));
});

test('a body that was not kept costs nobody a confirmation', async () => {
  const [w, person] = [await workspace(), await dashboardPerson()];
  await person.join(w.tenant.id, 'owner');
  const request_id = await logged(w.live, 3);
  await keepPayload(w.live, request_id, { body_withheld: 'compressed' });
  await verified({ user_id: person.user.id, session_id: person.session.id }, 'plaintext.reveal');
  const answer = await person.call(`GET /admin/logs/${request_id}/file`, undefined, { workspace: w.tenant.id });
  assert.deepEqual([answer.status, answer.body.code], [404, 'payload_not_captured']);
  assert.equal(await db().step_up_verifications.count({ where: { user_id: person.user.id, consumed_at: null } }), 1);
});

test('payloads go after 30 days, or with the calls of their plan and space if that is sooner', async () => {
  const w = await workspace();
  const keep = async (ctx: typeof w.live, days: number) => {
    const ts = ago(days * DAY);
    const id = await logged(ctx, 3, ts);
    await keepPayload(ctx, id, { ts });
    return id;
  };
  const live = [await keep(w.live, 2), await keep(w.live, 8), await keep(w.live, 31)];
  const tested = [await keep(w.test, SANDBOX_LOG_DAYS - 1), await keep(w.test, SANDBOX_LOG_DAYS + 1)];
  const left = async (ids: string[]) => Promise.all(ids.map((request_id) => db().log_payloads.count({ where: { request_id } })));
  const prune = (log_days: number | null) => pruneRequestLogs([{ tenant_id: w.tenant.id, log_days, audit_days: null }], new Date());
  await prune(null);
  assert.deepEqual(
    [await left(live), await left(tested)],
    [
      [2, 2, 0],
      [2, 0],
    ],
  );
  await prune(7);
  assert.deepEqual(await left(live), [2, 0, 0]);
});
