import type { Db } from '#server/kernel/database.ts';

const DAY = 86_400_000;
/** Orders are kept for who downloads a certificate once more. */
const ORDERS_KEPT_MS = 90 * DAY;
const BATCH = 5_000;

/** Forgets nonces that are too old to be accepted, and orders that are long over. Keys that were never used stay, as expired. @returns rows deleted */
export async function pruneAcme(db: Db, now: Date): Promise<{ nonces: number; orders: number }> {
  const nonces = await inBatches(
    () =>
      db.$executeRaw`delete from acme_nonces where ctid = any (array(select ctid from acme_nonces where expires_at < ${now}::timestamptz limit ${BATCH}))`,
  );
  const before = new Date(now.getTime() - ORDERS_KEPT_MS);
  const orders = await inBatches(
    () =>
      db.$executeRaw`delete from acme_orders where ctid = any (array(select ctid from acme_orders where expires_at < ${before}::timestamptz limit ${BATCH}))`,
  );
  return { nonces, orders };
}

async function inBatches(remove: () => Promise<number>): Promise<number> {
  let all = 0;
  for (let count = BATCH; count === BATCH; all += count) count = await remove();
  return all;
}
