import assert from 'node:assert/strict';
import test from 'node:test';
import { perform } from '#server/api/perform.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { type AuditEntry, audited, mutate, writeAudit } from '#server/kernel/mutate.ts';
import { textOf } from '#server/kernel/raw-body.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { observed } from '#server/testing/observed.ts';
import { workspace } from '#server/testing/workspace.ts';
import { appendCritical } from './critical.ts';
import { exportAuditLogs } from './export.ts';
import * as ops from './operations.ts';
import { AuditEvents, BrowseAuditLogs, ExportAuditLogs, ListAuditLogs } from './schema.ts';
import * as audit from './service.ts';

await testDatabase();

const minutesAgo = (ctx: Ctx, n: number): Ctx => ({ ...ctx, now: new Date(Date.now() - n * 60_000) });
const general = (ctx: Ctx, over: Partial<AuditEntry> = {}) =>
  mutate(ctx, async () =>
    audited(undefined, {
      action: 'update',
      resource_type: 'route',
      resource_id: newId(),
      name: 'payments',
      details: { note: 'x' },
      ...over,
    }),
  );
const critical = (ctx: Ctx) =>
  inTransaction(ctx, (tx) =>
    appendCritical(tx, ctx, {
      action: 'byok.kms.rotate',
      resource_type: 'tenant_master_key',
      resource_id: 'k',
      details: { to_version: 2 },
    }),
  );
const list = (ctx: Ctx, query: Record<string, unknown> = {}) => audit.listAuditLogs(ctx, ListAuditLogs.parse(query));
const events = (ctx: Ctx, query: Record<string, unknown> = {}) => audit.auditEvents({ ...ctx, now: new Date() }, AuditEvents.parse(query));

test('one list shows both stores in the order of time, with a true total and no page overlapping another', async () => {
  const w = await workspace();
  for (let i = 9; i > 0; i--) await (i % 3 ? general : critical)(minutesAgo(w.live, i));
  const all = await list(w.live, { per_page: 100 });
  assert.equal(all.total, 9);
  assert.deepEqual(
    all.rows.map((r) => r.action === 'update'),
    [true, true, false, true, true, false, true, true, false],
  );
  const paged = [
    ...(await list(w.live, { per_page: 4 })).rows,
    ...(await list(w.live, { per_page: 4, page: 2 })).rows,
    ...(await list(w.live, { per_page: 4, page: 3 })).rows,
  ];
  assert.deepEqual(
    paged.map((r) => r.id),
    all.rows.map((r) => r.id),
  );
  assert.deepEqual([(await list(w.live, { chain: 'critical' })).total, (await list(w.live, { chain: 'general' })).total], [3, 6]);
  const filtered = await list(w.live, { action: 'byok.kms.rotate' });
  assert.deepEqual([filtered.total, filtered.rows.length], [3, 3]);
  assert.equal((await list(w.live, { action: 'nowhere' })).total, 0);
  assert.equal((await list(w.live, { from: new Date(Date.now() - 4.5 * 60_000).toISOString() })).total, 4);
});

test('a hundred thousand entries deep, a page is still read in the order of an index', async () => {
  const w = await workspace();
  await db().$executeRaw`insert into audit_logs (id, tenant_id, sandbox, action, resource_type, details, actor_type, created_at)
    select gen_random_uuid(), ${w.tenant.id}::uuid, false, 'update', 'route', '{"sandbox": false}', 'user', now() - i * interval '1 second' from generate_series(1, 101000) i`;
  await db().$executeRaw`analyze audit_logs`;
  const { rows: deep, statements } = await observed(() => list(w.live, { page: 1001, per_page: 100 }));
  const shallow = await list(w.live, { page: 1, per_page: 20 });
  assert.deepEqual([deep.rows.length, deep.total, shallow.rows.length], [100, 101_000, 20]);
  const keys = statements.filter(({ text }) => /offset \$/.test(text));
  assert.equal(keys.length, 1);
  for (const { text, values } of keys) {
    const { rows } = await sql().query(`explain (costs off) ${text}`, values);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    assert.match(plan, /Index (Only )?Scan .*on audit_logs\b/, plan);
    assert.doesNotMatch(plan, /Seq Scan on audit_logs\b/, plan);
  }
});

test('each space sees its own entries; what concerns the workspace is seen from Live', async () => {
  const w = await workspace();
  await general(w.live);
  await general(w.test);
  await general(w.test, { resource_type: 'member', workspace_level: true });
  await critical(w.test);
  assert.deepEqual((await list(w.live)).rows.map((r) => r.resource_type).sort(), ['member', 'route']);
  assert.deepEqual((await list(w.test)).rows.map((r) => r.resource_type).sort(), ['route', 'tenant_master_key']);
  const other = await workspace();
  assert.equal((await list(other.live)).total, 0);
});

test('machines and Owner or Admin read details, others the stamp alone, and nobody while they are withheld or denied', async () => {
  const w = await workspace();
  await general(w.live);
  const details = async (ctx: Ctx) => {
    const [row] = (await list(ctx)).rows;
    return row?.details_redacted ? row.details : 'open';
  };
  assert.equal(await details(w.live), 'open');
  assert.equal(await details(w.member('owner')), 'open');
  assert.equal(await details(w.member('admin')), 'open');
  for (const role of ['editor', 'viewer'] as const) assert.deepEqual(await details(w.member(role)), { sandbox: false });
  await db().tenants.update({ where: { id: w.tenant.id }, data: { settings: { details_withheld: true } } });
  assert.deepEqual(await details(w.member('owner')), { sandbox: false });
  assert.equal(await details(w.live), 'open');
  const blocked = await workspace();
  await general(blocked.live);
  await db().tenant_policies.create({
    data: {
      id: newId(),
      tenant_id: blocked.tenant.id,
      name: 'p',
      actions: ['audit_log:read_details'],
      subjects: { all: true },
      resources: [],
    },
  });
  assert.deepEqual([await details(blocked.live), await details(blocked.member('owner'))], [{ sandbox: false }, { sandbox: false }]);
});

test('the event feed gives both stores in order of their common number, resumes by cursor, and refuses a foreign cursor', async () => {
  const [w, other] = await Promise.all([workspace(), workspace()]);
  for (let i = 0; i < 6; i++) await (i === 2 ? critical : general)(minutesAgo(w.live, 5));
  const first = await events(w.live, { limit: 4 });
  assert.deepEqual(
    first.rows.map((r) => r.action),
    ['update', 'update', 'byok.kms.rotate', 'update'],
  );
  assert.deepEqual(
    { ...first.meta, next_cursor: null },
    { next_cursor: null, limit: 4, delivery: 'at_least_once', dedupe_on: 'id', watermark_seconds: 30 },
  );
  const cursor = String(first.meta.next_cursor);
  const second = await events(w.live, { limit: 4, cursor });
  assert.deepEqual([second.rows.length, second.meta.next_cursor], [2, null]);
  for (const ctx of [other.live, w.test]) await assert.rejects(events(ctx, { cursor }), { type: 'validation_error' });
  await assert.rejects(events(w.live, { cursor, action: 'update' }), { type: 'validation_error' });
  assert.equal((await events(w.live, { action_prefix: 'byok.' })).rows.length, 1);
});

test('an entry of a slow transaction is not lost from the event feed', async () => {
  const w = await workspace();
  const past = minutesAgo(w.live, 5);
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let written = () => {};
  const early = new Promise<void>((resolve) => {
    written = resolve;
  });
  const slow = inTransaction(past, async (tx) => {
    await writeAudit(tx, past, { action: 'create', resource_type: 'route', resource_id: 'slow' });
    written();
    await held;
  });
  await early;
  // Of the other store: two general entries of a space already wait for each other, by the counter that both raise.
  await critical(past);
  assert.deepEqual((await events(w.live)).rows, []);
  release();
  await slow;
  assert.deepEqual(
    (await events(w.live)).rows.map((r) => r.resource_id),
    ['slow', 'k'],
  );
});

test('an entry younger than the watermark waits, and holds back what came after it', async () => {
  const w = await workspace();
  await general(minutesAgo(w.live, 5), { resource_id: 'old' });
  await general({ ...w.live, now: new Date() }, { resource_id: 'young' });
  await general(minutesAgo(w.live, 5), { resource_id: 'behind' });
  assert.deepEqual(
    (await events(w.live)).rows.map((r) => r.resource_id),
    ['old'],
  );
});

test('the dashboard browses by keyset, finds by name and shows what the same request did', async () => {
  const w = await workspace();
  const owner = w.member('owner');
  for (let i = 0; i < 5; i++) await general(minutesAgo(owner, i), { name: i === 3 ? 'Billing API' : 'other' });
  await mutate(owner, async () =>
    audited(
      undefined,
      { action: 'create', resource_type: 'route', resource_id: 'a' },
      { action: 'update', resource_type: 'secret', resource_id: 'b' },
    ),
  );
  const browse = (query: Record<string, unknown>) => audit.browseAuditLogs(owner, BrowseAuditLogs.parse(query));
  const first = await browse({ limit: 3 });
  const second = await browse({ limit: 100, before: first.next });
  assert.equal(first.entries.length + second.entries.length, 7);
  assert.equal(new Set([...first.entries, ...second.entries].map((e) => e.id)).size, 7);
  assert.deepEqual(
    (await browse({ q: 'billing' })).entries.map((e) => e.details.name),
    ['Billing API'],
  );
  const detail = await audit.getAuditLog(owner, { id: (await browse({ resource_id: 'a' })).entries[0]?.id ?? '' });
  assert.ok(detail.same_request.some((e) => e.resource_id === 'b'));
  await assert.rejects(audit.getAuditLog((await workspace()).live, { id: detail.id }), { type: 'not_found' });
  const facets = await audit.auditFacets(owner, {});
  assert.deepEqual(facets.resource_types, [
    { value: 'route', label: null, count: 6 },
    { value: 'secret', label: null, count: 1 },
  ]);
  assert.equal(facets.actors[0]?.label, 'owner@example.com');
});

test('an export is recorded, complete, gated by the plan, and no cell of it runs in a spreadsheet', async () => {
  const w = await workspace({ plan: 'pro' });
  const owner = { ...w.member('owner'), plan: 'pro' as const };
  const hostile = { ...owner.actor, label: '=HYPERLINK("http://x")' };
  await general({ ...owner, actor: hostile } as Ctx);
  await critical(owner);
  const csv = await textOf(await exportAuditLogs(owner, ExportAuditLogs.parse({})));
  assert.equal(csv.trimEnd().split('\r\n').length, 4, 'a head, two entries, and the export itself');
  assert.match(csv, /"'=HYPERLINK\(""http:\/\/x""\)"/);
  const lines = (await textOf(await exportAuditLogs(owner, ExportAuditLogs.parse({ format: 'jsonl', store: 'critical' }))))
    .trimEnd()
    .split('\n');
  assert.deepEqual(
    lines.map((l) => (JSON.parse(l) as { store: string }).store),
    ['critical'],
  );
  assert.equal((await list(w.live, { action: 'export', resource_type: 'audit_log' })).total, 2);
  await assert.rejects(perform(ops.exported, { ...owner, plan: 'starter' }, {}), { type: 'plan_feature' });
});

test('the entries of one request are found by its id, in both stores, and never in another workspace or space', async () => {
  const [w, other] = [await workspace(), await workspace()];
  const request_id = newId();
  for (const ctx of [w.live, w.test, other.live]) {
    await general({ ...ctx, request_id });
    await general({ ...ctx, request_id: newId() });
  }
  await critical({ ...w.live, request_id });
  const of = async (ctx: Ctx, id: string) => (await audit.browseAuditLogs(ctx, BrowseAuditLogs.parse({ request_id: id }))).entries;
  const found = await of(w.member('owner'), request_id);
  assert.deepEqual(found.map((entry) => entry.store).sort(), ['critical', 'general']);
  assert.ok(found.every((entry) => entry.request_id === request_id));
  assert.equal((await of(w.member('owner'), newId())).length, 0);
  assert.equal(
    (await of(w.member('owner'), '0190a1b2-c3d4-4e5f-8a9b-0c1d2e3f4a5b')).length,
    0,
    'an id of another version is looked for all the same',
  );
});
