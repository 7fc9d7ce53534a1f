import { sql } from '#server/platform/sql.ts';

const BATCH = 5_000;

/**
 * Finishes what was deleted: erases what tokens of deleted vaults still hold, removes tokens whose text has been kept from being issued again for 30
 * days, then vaults without tokens. Fingerprints of dual vaults stay while their vault does, so that what was deleted is refused for good.
 * @returns rows erased or removed
 */
export async function purgeVaults(now: Date, { batch = BATCH, signal }: { batch?: number; signal?: AbortSignal } = {}): Promise<number> {
  const erased = await inBatches(
    `update vault_tokens set wrapped_value = null, value_hmac = null, metadata = null, deleted_at = $1
     where id in (select t.id from vaults v join vault_tokens t on t.vault_id = v.id where v.deleted_at is not null and t.deleted_at is null
       limit ${batch} for update of t skip locked)`,
    now,
    batch,
    signal,
  );
  const removed = await inBatches(
    `delete from vault_tokens where id in (
       select t.id from vault_tokens t join vaults v on v.id = t.vault_id
       where t.deleted_at < $1::timestamptz - interval '30 days' and (v.custody_mode = 'managed' or v.deleted_at is not null)
       limit ${batch} for update of t skip locked)`,
    now,
    batch,
    signal,
  );
  const { rowCount } = await sql().query(
    `delete from vaults v where v.deleted_at < $1::timestamptz - interval '30 days' and not exists (select from vault_tokens t where t.vault_id = v.id)`,
    [now],
  );
  return erased + removed + (rowCount ?? 0);
}

async function inBatches(text: string, now: Date, batch: number, signal: AbortSignal | undefined): Promise<number> {
  for (let total = 0; ; ) {
    const { rowCount } = await sql().query(text, [now]);
    total += rowCount ?? 0;
    if ((rowCount ?? 0) < batch || signal?.aborted) return total;
  }
}
