import type { Db, Tx } from '#server/kernel/database.ts';
import type { Lease } from '#server/kernel/lease.ts';

/** A worker that dies holds its leases for this long. */
const LOCK = '180 seconds';
/** What must be left of the lock when a transaction begins: more than it may last, so that no other worker takes its leases over meanwhile. */
export const TRANSACTION_MS = 60_000;
const LEFT_OF_LOCK = '70 seconds';
const FIRST_RETRY_MS = 30_000;
const LAST_RETRY_MS = 6 * 3_600_000;

/** Locks due leases of a kind, oldest first. Of several workers each gets others. */
export const claimDue = (db: Db, kind: string, owner: string, now: Date, batch: number) => db.$queryRaw<Lease[]>`
  update leases l set locked_by = ${owner}::uuid, locked_until = now() + ${LOCK}::interval
  from (select resource_id from leases where kind = ${kind} and next_at <= ${now} and (locked_until is null or locked_until < now())
    order by next_at, resource_id limit ${batch} for update skip locked) due
  where l.kind = ${kind} and l.resource_id = due.resource_id
  returning l.resource_id, l.tenant_id, l.sandbox, l.attempts, l.version`;

/** This worker was too slow and must leave the lease to another, or the resource is gone. */
export class LeaseLost extends Error {}

/** @throws LeaseLost unless all of the leases are held for long enough to handle them in this transaction */
export async function assertHeld(tx: Tx, kind: string, owner: string, leases: readonly Lease[]): Promise<void> {
  const ids = leases.map(({ resource_id }) => resource_id);
  const [row] = await tx.$queryRaw<{ held: number }[]>`
    select count(*)::int as held from leases where kind = ${kind} and resource_id = any(${ids}::uuid[]) and locked_by = ${owner}::uuid
      and locked_until > now() + ${LEFT_OF_LOCK}::interval`;
  if (row?.held !== leases.length) throw new LeaseLost(`lost a lease of ${kind}`);
}

/**
 * Ends handled leases, or sets their next time, in the transaction of the handler. One that was woken in the meantime stays due; one
 * whose resource the handler deleted is gone already. @throws LeaseLost
 */
export async function settle(tx: Tx, kind: string, owner: string, leases: readonly Lease[], next: ReadonlyMap<string, Date>, now: Date) {
  const claimed = new Map(leases.map(({ resource_id, version }) => [resource_id, version]));
  const rows = await tx.$queryRaw<{ resource_id: string; version: number; locked_by: string | null }[]>`
    select resource_id, version, locked_by from leases where kind = ${kind} and resource_id = any(${[...claimed.keys()]}::uuid[]) order by resource_id for update`;
  if (rows.some(({ locked_by }) => locked_by !== owner)) throw new LeaseLost(`lost a lease of ${kind}`);
  const asleep = rows.filter(({ resource_id, version }) => claimed.get(resource_id) === version).map(({ resource_id }) => resource_id);
  const over = asleep.filter((id) => !next.has(id));
  const kept = asleep.filter((id) => next.has(id));
  const earliest = now.getTime() + 1_000;
  const times = kept.map((id) => new Date(Math.max((next.get(id) as Date).getTime(), earliest)));
  await tx.$executeRaw`delete from leases where kind = ${kind} and resource_id = any(${over}::uuid[])`;
  await tx.$executeRaw`
    update leases l set next_at = v.next_at from unnest(${kept}::uuid[], ${times}::timestamptz[]) as v(resource_id, next_at)
    where l.kind = ${kind} and l.resource_id = v.resource_id`;
  await tx.$executeRaw`
    update leases set attempts = 0, locked_by = null, locked_until = null where kind = ${kind} and resource_id = any(${rows.map((row) => row.resource_id)}::uuid[])`;
}

/** Leaves leases that nothing was done about to the next sweep. */
export async function giveBack(db: Db, kind: string, owner: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await db.$executeRaw`
    update leases set locked_by = null, locked_until = null where kind = ${kind} and resource_id = any(${ids}::uuid[]) and locked_by = ${owner}::uuid`;
}

/** Sets a failed lease back, twice as long after each failure in a row. @returns the time of the next attempt */
export async function postpone(db: Db, kind: string, owner: string, { resource_id, attempts }: Lease, now: Date): Promise<Date> {
  const delay = Math.min(FIRST_RETRY_MS * 2 ** Math.min(attempts, 20), LAST_RETRY_MS);
  const retryAt = new Date(now.getTime() + delay);
  await db.$executeRaw`
    update leases set attempts = attempts + 1, next_at = ${retryAt}, locked_by = null, locked_until = null
    where kind = ${kind} and resource_id = ${resource_id}::uuid and locked_by = ${owner}::uuid`;
  return retryAt;
}
