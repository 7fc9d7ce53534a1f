import type { z } from 'zod';
import { requireFeature, withinPlan } from '#server/domain/plans/service.ts';
import { onUnique } from '#server/kernel/conflicts.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import type { KeyType } from '#server/kernel/key-types.ts';
import { type AuditEntry, audited, mutate } from '#server/kernel/mutate.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import { grouped } from '#server/kernel/numbers.ts';
import type { CreateCryptoKey } from './schema.ts';
import { type KeyRow, personOf } from './store.ts';
import { insertVersion, type NewVersion, newVersion } from './versions.ts';

/** The list has no pages. */
export const MOST_KEYS = 1_000;

/**
 * A key with its first version.
 * @throws Refusal plan_limit, plan_feature for mode bundled, conflict when the name is taken, tenant_sealed
 */
export async function createCryptoKey(ctx: Ctx, input: z.output<typeof CreateCryptoKey>) {
  if (input.mode === 'bundled') requireFeature(ctx, 'byo_agent');
  const first = await newVersion(ctx, input.key_type);
  return mutate(ctx, async (tx) => {
    await withinPlan(tx, ctx, 'crypto_keys');
    const { key, entry } = await createKey(tx, ctx, { ...input, managed_by: 'tenant' }, first);
    return audited(key, entry);
  });
}

export type NewKey = {
  name: string;
  key_type: KeyType;
  managed_by: 'tenant' | 'vault' | 'service';
  mode?: 'cloud-only' | 'bundled';
  description?: string | null;
  auto_rotate_days?: number | null;
  derived?: boolean;
  convergent?: boolean;
};

/**
 * The same in the transaction of another change, such as the creation of the vault that owns the key. Plans don't count keys of vaults and of the
 * service. Hand in `first` from `newVersion`, made before the transaction, where generating takes long. The caller writes `entry`.
 * @throws Refusal conflict when the name is taken, plan_limit when the space is full
 */
export async function createKey(tx: Tx, ctx: Ctx, input: NewKey, first?: NewVersion): Promise<{ key: KeyRow; entry: AuditEntry }> {
  await assertRoom(tx, ctx);
  const made = first ?? (await newVersion(ctx, input.key_type));
  const key = (await tx.crypto_keys
    .create({ data: { ...own(ctx), ...input, id: newId(), created_by: personOf(ctx), created_at: ctx.now, updated_at: ctx.now } })
    .catch(onUnique('A key with this name already exists. Names are compared without case.'))) as KeyRow;
  await insertVersion(tx, ctx, key.id, 1, made);
  const { key_type, mode, managed_by, auto_rotate_days } = key;
  return {
    key,
    entry: {
      action: 'create',
      resource_type: 'crypto_key',
      resource_id: key.id,
      name: key.name,
      details: { key_type, mode, managed_by, key_version: 1, ...(auto_rotate_days === null ? {} : { auto_rotate_days }) },
    },
  };
}

async function assertRoom(tx: Tx, ctx: Ctx): Promise<void> {
  await holdLock(tx, `${ctx.tenant_id}:crypto_keys:${ctx.sandbox}`);
  const there = await tx.crypto_keys.count({ where: { ...own(ctx), deleted_at: null } });
  if (there >= MOST_KEYS)
    throw new Refusal('plan_limit', `A space has at most ${grouped(MOST_KEYS)} crypto keys. Delete one that is no longer used.`);
}
