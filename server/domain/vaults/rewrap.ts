import { openVaultValue, sealVaultValue } from '#server/crypto/vault-value.ts';
import { keyById, versionOf } from '#server/custody/keys.ts';
import { material } from '#server/custody/material.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { log } from '#server/platform/log.ts';
import { sql } from '#server/platform/sql.ts';

/** Rows of one statement (interface rule 42 §4.3). */
const BATCH = 500;
/** After this long the rest is left to the next run. */
const RUN_MS = 50_000;

/** Moves the values of a vault to a version of its key, from the caller's commit on. A move that is under way starts over. */
export async function beginRewrap(tx: Tx, ctx: Ctx, vaultId: string, version: number): Promise<void> {
  const total = await tx.vault_tokens.count({
    where: { ...own(ctx), vault_id: vaultId, deleted_at: null, crypto_key_version: { lt: version } },
  });
  await tx.vaults.update({
    where: { id: vaultId, ...own(ctx) },
    data: {
      rewrap_to: version,
      rewrap_after: null,
      rewrap_done: 0n,
      rewrap_total: BigInt(total),
      rewrap_started_at: ctx.now,
      rewrap_finished_at: null,
    },
    select: { id: true },
  });
}

type Vault = {
  id: string;
  tenant_id: string;
  sandbox: boolean;
  crypto_key_id: string;
  rewrap_to: number;
  rewrap_after: string | null;
  rewrap_started_at: Date;
};
type Row = { id: string; wrapped_value: Buffer; crypto_key_version: number };

/**
 * Goes on with every move of values. Each batch is written with its place in one transaction, so that a worker which dies loses one batch at most and
 * the next goes on there. @returns values moved
 */
export async function rewrapVaults({ signal, batch = BATCH }: { signal?: AbortSignal; batch?: number } = {}): Promise<number> {
  const until = Date.now() + RUN_MS;
  let moved = 0;
  const { rows: vaults } = await sql().query<{ id: string }>(
    'select id from vaults where rewrap_to is not null and rewrap_finished_at is null and deleted_at is null order by rewrap_started_at limit 100',
  );
  for (const { id } of vaults) {
    try {
      for (let more = true; more && Date.now() < until && !signal?.aborted; ) {
        const result = await rewrapBatch(id, batch);
        moved += result.moved;
        more = result.more;
      }
    } catch (error) {
      log.warn({ err: error, vault_id: id }, 'moving the values of a vault to a new version stopped; it is retried in a minute');
    }
  }
  return moved;
}

/** One worker at a time per vault: the row of the vault is held while a batch is moved. */
async function rewrapBatch(vaultId: string, batch: number): Promise<{ moved: number; more: boolean }> {
  const client = await sql().connect();
  try {
    await client.query('begin');
    const { rows: vaults } = await client.query<Vault>(
      `select id, tenant_id, sandbox, crypto_key_id, rewrap_to, rewrap_after, rewrap_started_at from vaults
       where id = $1 and rewrap_to is not null and rewrap_finished_at is null and deleted_at is null for no key update skip locked`,
      [vaultId],
    );
    const [vault] = vaults;
    if (!vault) return await end(client, { moved: 0, more: false });
    // In the order of their ids, under the index of live rows below the version that is wanted.
    const { rows } = await client.query<Row>(
      `select id, wrapped_value, crypto_key_version from vault_tokens
       where vault_id = $1 and deleted_at is null and crypto_key_version < $2 and wrapped_value is not null and id > $3
       order by id limit $4 for no key update`,
      [vault.id, vault.rewrap_to, vault.rewrap_after ?? '00000000-0000-0000-0000-000000000000', batch],
    );
    const ready = await rewrapped(vault, rows);
    await client.query(
      `update vault_tokens t set wrapped_value = v.wrapped, crypto_key_version = $1 from unnest($2::uuid[], $3::bytea[]) as v (id, wrapped) where t.id = v.id`,
      [vault.rewrap_to, ready.map(({ id }) => id), ready.map(({ wrapped }) => wrapped)],
    );
    const more = rows.length === batch;
    await client.query(
      'update vaults set rewrap_after = coalesce($2, rewrap_after), rewrap_done = rewrap_done + $3, rewrap_finished_at = case when $4 then null else now() end where id = $1',
      [vault.id, rows.at(-1)?.id ?? null, ready.length, more],
    );
    return await end(client, { moved: ready.length, more });
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  } finally {
    client.release();
  }
}

async function end<T>(client: { query(text: string): Promise<unknown> }, result: T): Promise<T> {
  await client.query('commit');
  return result;
}

/** Values under a version that was destroyed can't be moved: they are lost, and their rows stay as they are. */
async function rewrapped(vault: Vault, rows: readonly Row[]): Promise<{ id: string; wrapped: Buffer }[]> {
  const key = await keyById(vault, vault.crypto_key_id);
  if (!key) return [];
  const to = await material(key, vault.rewrap_to);
  const ready: { id: string; wrapped: Buffer }[] = [];
  for (const { id, wrapped_value, crypto_key_version } of rows) {
    const version = versionOf(key, crypto_key_version);
    if (!version || version.status === 'destroyed' || version.scheduled) continue;
    const place = { tenant_id: vault.tenant_id, vault_id: vault.id, token_id: id };
    const plain = openVaultValue(await material(key, crypto_key_version), place, wrapped_value);
    ready.push({ id, wrapped: sealVaultValue(to, place, plain) });
    plain.fill(0);
  }
  return ready;
}
