import type { Db } from '#server/kernel/database.ts';

/** Deletes what no window can count any more (interface rule 32 §5.1), in batches that keep its locks short. @returns how many rows */
export async function pruneLedger(db: Db, batch = 5_000): Promise<number> {
  for (let pruned = 0; ; ) {
    const n = await db.$executeRaw`
      delete from reveal_ledger where id in (select id from reveal_ledger where at < clock_timestamp() - interval '24 hours' limit ${batch})`;
    pruned += n;
    if (n < batch) return pruned;
  }
}
