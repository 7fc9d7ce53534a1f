import assert from 'node:assert/strict';
import test from 'node:test';
import { rowHash } from '#server/crypto/chain.ts';
import { proofHolds } from '#server/crypto/merkle.fixture.ts';
import { type LeafRow, leafHash, merkleAlgo, merkleRoot } from '#server/crypto/merkle.ts';
import { verifyChainOf } from '#server/domain/audit-logs/chain-pages.ts';
import { appendCritical } from '#server/domain/audit-logs/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { keyActor, workspace } from '#server/testing/workspace.ts';
import { anchorAll, anchorTenant, leavesBetween } from './anchors.ts';
import { LogProof } from './proof.schema.ts';
import { judge, proveLog } from './proof.ts';
import { insert, type Row, row } from './rows.fixture.ts';

await testDatabase();
const prove = async (ctx: Ctx, target: Row) =>
  LogProof.parse(await proveLog({ ...ctx, now: new Date() }, { request_id: target.request_id }));

/** A workspace with rows of both spaces under one anchor. */
async function anchored(count = 5) {
  const w = await workspace();
  const rows = Array.from({ length: count }, (_, i) => row(w.tenant.id, { sandbox: i % 2 === 1, path: `/${i}` }));
  const ids = await insert(rows);
  assert.equal(await anchorTenant(w.tenant.id, new Date()), 1);
  return { w, rows, ids };
}

async function bypassing(statement: string, values: unknown[]) {
  const client = await sql().connect();
  try {
    await client.query(`set session_replication_role = 'replica'`); // what somebody with the database in hand can do
    await client.query(statement, values);
  } finally {
    client.release(true);
  }
}

test('the path of every row leads from its leaf to the root that stands in the critical chain', async () => {
  const { w, rows } = await anchored();
  for (const target of rows) {
    const p = await prove(target.sandbox ? w.test : w.live, target);
    assert.deepEqual([p.anchored, p.verified, p.observed_leaf_count], [true, true, 5]);
    assert.ok(proofHolds(Buffer.from(p.leaf_hash!, 'hex'), p.proof!, Buffer.from(p.anchor!.merkle_root, 'hex')));
    const leaf = leafHash({ ...(p as unknown as LeafRow), ts: new Date(p.ts) });
    assert.equal(leaf.toString('hex'), p.leaf_hash, 'a reader recomputes the leaf from the twelve fields it was given');
  }
  const p = await prove(w.live, rows[0]!);
  const entries = await db().audit_log_critical.findMany({ where: { tenant_id: w.tenant.id } });
  assert.deepEqual(
    entries.map((e) => [e.action, e.resource_id, String(e.sequence_number), Buffer.from(e.row_hash).toString('hex')]),
    [['request_log.anchor', p.anchor?.id, p.anchor?.sequence_number, p.anchor?.chain_row_hash]],
  );
  assert.equal((entries[0]!.details as { merkle_root: string }).merkle_root, p.anchor?.merkle_root);
  assert.equal((await verifyChainOf(w.live, {})).valid, true);
});

test('anchors cover contiguous ranges, each row once, whoever runs beside', async () => {
  const w = await workspace();
  await insert(Array.from({ length: 23 }, () => row(w.tenant.id)));
  const written = await Promise.all([anchorTenant(w.tenant.id, new Date(), 5), anchorTenant(w.tenant.id, new Date(), 5)]);
  assert.equal(written[0]! + written[1]!, 5);
  await insert([row(w.tenant.id), row(w.tenant.id, { ts: new Date() })]);
  await anchorTenant(w.tenant.id, new Date(), 5);
  const anchors = await db().request_log_anchors.findMany({ where: { tenant_id: w.tenant.id }, orderBy: { from_id: 'asc' } });
  assert.deepEqual(
    anchors.map((a) => a.leaf_count),
    [5, 5, 5, 5, 3, 1],
    'the row within the watermark waits',
  );
  for (const [i, a] of anchors.entries()) assert.equal(a.from_id, i === 0 ? 1n : anchors[i - 1]!.to_id + 1n);
});

test('the schedule anchors exactly the workspaces that logged something', async () => {
  const [busy, idle] = await Promise.all([workspace(), workspace()]);
  await insert([row(busy.tenant.id)]);
  await db().request_rollups.create({
    data: {
      tenant_id: busy.tenant.id,
      sandbox: false,
      minute: new Date(Date.now() - 60_000),
      route_id: newId(),
      environment: 'production',
      status_class: 2,
      count: 1,
    },
  });
  await anchorAll(new Date());
  assert.equal(await db().request_log_anchors.count({ where: { tenant_id: busy.tenant.id } }), 1);
  assert.equal(await db().request_log_anchors.count({ where: { tenant_id: idle.tenant.id } }), 0);
});

test('not_yet_anchored: a settled row without an anchor', async () => {
  const w = await workspace();
  const target = row(w.tenant.id);
  await insert([target]);
  const p = await prove(w.live, target);
  assert.deepEqual([p.anchored, p.reason, 'proof' in p], [false, 'not_yet_anchored', false]);
});

test('range_incomplete: retention took a neighbour', async () => {
  const { w, rows, ids } = await anchored();
  await sql().query('delete from request_logs where id = $1', [ids[1]]);
  const p = await prove(w.live, rows[0]!);
  assert.deepEqual([p.verified, p.reason, p.observed_leaf_count, 'proof' in p], [false, 'range_incomplete', 4, false]);
});

test('range_grew: a row was put into the range', async () => {
  const { w, rows, ids } = await anchored();
  await bypassing('insert into request_logs (id, request_id, tenant_id, sandbox, ts) select $1, gen_random_uuid(), $2, false, now()', [
    ids[2]! - 0n,
    w.tenant.id,
  ]);
  assert.equal((await prove(w.live, rows[0]!)).reason, 'range_grew');
});

test('root_mismatch: a field of the leaf was altered behind the trigger that forbids it', async () => {
  const { w, rows, ids } = await anchored();
  await assert.rejects(sql().query('update request_logs set status_code = 500 where id = $1', [ids[2]]), /never changed/);
  await bypassing('update request_logs set status_code = 500 where id = $1', [ids[2]]);
  const p = await prove(w.live, rows[0]!);
  assert.deepEqual([p.verified, p.reason], [false, 'root_mismatch']);
  assert.notEqual(p.recomputed_root, p.anchor?.merkle_root);
});

test('anchor_range_too_large: an anchor beyond the ceiling is not recomputed', async () => {
  const w = await workspace();
  const rows = [row(w.tenant.id)];
  const [id = 0n] = await insert(rows);
  const merkle_root = '0'.repeat(64);
  const range = { from_id: String(id), to_id: String(id), leaf_count: 100_001 };
  const { sequence_number } = await inTransaction(w.live, (tx) =>
    appendCritical(tx, w.live, {
      action: 'request_log.anchor',
      resource_type: 'request_log',
      resource_id: newId(),
      details: { ...range, merkle_root, algo: merkleAlgo },
    }),
  );
  const place = { from_id: id, to_id: id, leaf_count: 100_001, merkle_root: Buffer.from(merkle_root, 'hex'), sequence_number };
  await db().request_log_anchors.create({ data: { id: newId(), tenant_id: w.tenant.id, anchored_at: new Date(), ...place } });
  const p = await prove(w.live, rows[0]!);
  assert.deepEqual([p.anchored, p.reason, 'observed_leaf_count' in p], [true, 'anchor_range_too_large', false]);
});

test('row_not_in_range: the range is whole, and the row is not of it', () => {
  const leaf = (id: string): LeafRow => ({
    id,
    request_id: 'r',
    tenant_id: 't',
    route_id: null,
    matched_client_id: null,
    identification_method: null,
    method: 'GET',
    status_code: 200,
    src_ip: null,
    environment: null,
    sandbox: false,
    ts: new Date(0),
  });
  const leaves = [leaf('1'), leaf('2')];
  const anchor = { leaf_count: 2, merkle_root: merkleRoot(leaves.map(leafHash)) };
  const of = (one: LeafRow) => ({ id: one.id, leaf: leafHash(one) });
  assert.equal(judge(of(leaf('3')), anchor, leaves).reason, 'row_not_in_range');
  assert.equal(judge(of(leaf('2')), anchor, leaves).verified, true);
  const shown = { ...leaf('2'), status_code: 500 };
  assert.equal(judge(of(shown), anchor, leaves).reason, 'row_not_in_range', 'the row that is shown must be the leaf');
});

test('without the identity tier the path can be checked and the leaf fields stay hidden', async () => {
  const { w, rows } = await anchored();
  const p = await prove({ ...w.live, actor: keyActor('Key - Read-only') }, rows[0]!);
  assert.deepEqual([p.verified, p._redacted, 'src_ip' in p], [true, ['identity'], false]);
  assert.ok(proofHolds(Buffer.from(p.leaf_hash!, 'hex'), p.proof!, Buffer.from(p.anchor!.merkle_root, 'hex')));
});

test('another workspace or space gets not_found, and a credential thirty proofs a minute', async () => {
  const { w, rows } = await anchored();
  const other = await workspace();
  for (const ctx of [other.live, w.test]) await assert.rejects(prove(ctx, rows[0]!), { type: 'not_found' });
  const now = new Date(Math.floor(Date.now() / 60_000) * 60_000 + 30_000 + 120_000);
  const ask = () => proveLog({ ...w.live, now }, { request_id: rows[0]!.request_id });
  for (let i = 0; i < 30; i++) await ask();
  await assert.rejects(ask(), { type: 'rate_limit_exceeded' });
});

/** The root of the rows as they are now, as whoever altered one would compute it. */
async function rootNow(tenantId: string): Promise<Buffer> {
  const leaves = await db().$transaction((tx) => leavesBetween(tx, tenantId, 1n, 2n ** 62n, 1000));
  return merkleRoot(leaves.map(leafHash));
}

test('an altered call is never proven, whatever was written into the anchors', async () => {
  const { w, rows, ids } = await anchored();
  const tenant = w.tenant.id;
  await bypassing('update request_logs set status_code = 500 where id = $1', [ids[0]]);
  await bypassing('update request_log_anchors set merkle_root = $2 where tenant_id = $1', [tenant, await rootNow(tenant)]);
  assert.deepEqual([(await prove(w.live, rows[0]!)).verified, (await prove(w.live, rows[0]!)).reason], [false, 'root_mismatch']);
  // The chain's entry altered with it, its hash made anew.
  const entry = await db().audit_log_critical.findFirstOrThrow({ where: { chain_id: tenant } });
  const details = { ...(entry.details as object), merkle_root: (await rootNow(tenant)).toString('hex') };
  await bypassing('update audit_log_critical set details = $2, row_hash = $3 where id = $1', [
    entry.id,
    JSON.stringify(details),
    rowHash({ ...entry, details }),
  ]);
  assert.deepEqual([(await prove(w.live, rows[0]!)).verified, (await prove(w.live, rows[0]!)).reason], [false, 'anchor_mismatch']);
});

test('a call whose anchor was removed is neither unanchored nor anchored anew as it is now', async () => {
  const { w, rows, ids } = await anchored();
  await bypassing('update request_logs set status_code = 500 where id = $1', [ids[0]]);
  await bypassing('delete from request_log_anchors where tenant_id = $1', [w.tenant.id]);
  assert.equal(await anchorTenant(w.tenant.id, new Date()), 0);
  const p = await prove(w.live, rows[0]!);
  assert.deepEqual([p.anchored, p.verified, p.reason], [true, false, 'anchor_mismatch']);
});

test("an anchor that names another workspace's entry proves nothing", async () => {
  const [a, b] = [await anchored(), await anchored()];
  const foreign = await db().request_log_anchors.findFirstOrThrow({ where: { tenant_id: b.w.tenant.id } });
  await bypassing('update request_log_anchors set sequence_number = 2, merkle_root = $2 where tenant_id = $1', [
    a.w.tenant.id,
    foreign.merkle_root,
  ]);
  assert.equal((await prove(a.w.live, a.rows[0]!)).reason, 'anchor_mismatch');
});
