import { type LeafRow, leafHash, merkleAlgo, merkleRoot } from '#server/crypto/merkle.ts';
import { appendCritical } from '#server/domain/audit-logs/service.ts';
import { Prisma } from '#server/generated/prisma/client.ts';
import type { Tx } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { db } from '#server/platform/db.ts';
import { log } from '#server/platform/log.ts';
import { sql } from '#server/platform/sql.ts';
import { watermarkOf } from './service.ts';
import { horizon } from './store.ts';

/** Rows under one anchor; a proof loads that many. */
const MOST_LEAVES = 10_000;

/** Anchors what every workspace has logged since its last anchor (interface rule 13 §5.2). @returns anchors written */
export async function anchorAll(now: Date): Promise<number> {
  // A day back: a call is filed under the minute its head was read, and may have run for hours since.
  const { rows } = await sql().query<{ id: string }>(`
    select t.id from tenants t where exists (select from request_rollups r where r.tenant_id = t.id
      and r.minute >= coalesce((select max(anchored_at) from request_log_anchors a where a.tenant_id = t.id), '-infinity') - interval '1 day')`);
  let written = 0;
  for (const { id } of rows) {
    try {
      written += await anchorTenant(id, now);
    } catch (error) {
      log.error({ err: error, tenant_id: id }, 'cannot anchor request logs; the next run tries again');
    }
  }
  return written;
}

/** The next contiguous id ranges of one workspace up to the watermark, at most `most` rows each. @returns anchors written */
export async function anchorTenant(tenantId: string, now: Date, most = MOST_LEAVES): Promise<number> {
  let anchors = 0;
  for (let full = true; full; ) {
    const leaves = await db().$transaction((tx) => anchorNext(tx, tenantId, now, most), { maxWait: 10_000, timeout: 60_000 });
    if (leaves > 0) anchors++;
    full = leaves === most;
  }
  return anchors;
}

/** Outside row-level security: an anchor covers both spaces. Its lock comes before the chain's, as every lock of a tenant does. */
async function anchorNext(tx: Tx, tenantId: string, now: Date, most: number): Promise<number> {
  await holdLock(tx, `anchor:${tenantId}`);
  const from = (await anchoredUpTo(tx, tenantId)) + 1n;
  const rows = await unanchored(tx, tenantId, from, watermarkOf(now), most);
  const end = rows.at(-1);
  if (!end) return 0;
  const root = merkleRoot(rows.map(leafHash));
  const id = newId();
  const details = { merkle_root: root.toString('hex'), leaf_count: rows.length, from_id: String(from), to_id: end.id, algo: merkleAlgo };
  const ctx = systemContext(db(), { tenant_id: tenantId, now, label: 'request log anchors' });
  const entry = await appendCritical(tx, ctx, { action: 'request_log.anchor', resource_type: 'request_log', resource_id: id, details });
  await tx.request_log_anchors.create({
    data: {
      id,
      tenant_id: tenantId,
      from_id: from,
      to_id: BigInt(end.id),
      leaf_count: rows.length,
      merkle_root: new Uint8Array(root),
      algo: merkleAlgo,
      sequence_number: entry.sequence_number,
      chain_row_hash: new Uint8Array(entry.row_hash),
      anchored_at: now,
    },
  });
  return rows.length;
}

/** The end of the last anchored range, by the critical chain and by the anchors: a range that lost one of both must not be anchored anew as it is now. */
export async function anchoredUpTo(tx: Pick<Tx, '$queryRaw'>, tenantId: string): Promise<bigint> {
  const [last] = await tx.$queryRaw<{ to_id: bigint | null }[]>`
    select greatest(
      (select (details ->> 'to_id')::bigint from audit_log_critical where chain_id = ${tenantId} and action = 'request_log.anchor' order by sequence_number desc limit 1),
      (select to_id from request_log_anchors where tenant_id = ${tenantId}::uuid order by from_id desc limit 1)) as to_id`;
  return last?.to_id ?? 0n;
}

/** Settled rows only: nothing may be put into an anchored range later, or honest rows would look like tampering. */
async function unanchored(tx: Tx, tenantId: string, from: bigint, watermark: Date, most: number): Promise<LeafRow[]> {
  const until = await horizon(tx);
  const rows = await tx.$queryRaw<(LeafRow & { settled: boolean })[]>`
    select ${LEAF}, r.id <= ${until} and ts <= ${watermark} as settled
    from (${rowsFrom(tenantId, Prisma.sql`id >= ${from}`, most)}) r order by r.id limit ${most}`;
  const unsettled = rows.findIndex((row) => !row.settled);
  return unsettled === -1 ? rows : rows.slice(0, unsettled);
}

/** The rows of an anchored range as they are now, one more than `most` at most. */
export const leavesBetween = (tx: Tx, tenantId: string, from: bigint, to: bigint, most: number): Promise<LeafRow[]> =>
  tx.$queryRaw<
    LeafRow[]
  >`select ${LEAF} from (${rowsFrom(tenantId, Prisma.sql`id between ${from} and ${to}`, most + 1)}) r order by r.id limit ${most + 1}`;

const LEAF = Prisma.sql`r.id::text as id, request_id, tenant_id, route_id, matched_client_id, identification_method, method, status_code, src_ip, environment, sandbox, ts`;

/** One branch per space, because the index that orders by id has the space before it. */
function rowsFrom(tenantId: string, range: Prisma.Sql, most: number): Prisma.Sql {
  const spaces = [Prisma.sql`sandbox = false`, Prisma.sql`sandbox = true`, Prisma.sql`sandbox is null`];
  const parts = spaces.map(
    (space) =>
      Prisma.sql`(select * from request_logs where tenant_id = ${tenantId}::uuid and ${space} and ${range} order by id limit ${most})`,
  );
  return Prisma.join(parts, ' union all ');
}
