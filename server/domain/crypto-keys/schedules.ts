import type { KeyType } from '#server/kernel/key-types.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import type { Db } from '#server/kernel/tx.ts';
import { log } from '#server/platform/log.ts';
import { type Rotation, rotateKey } from './rotation.ts';
import { lockedKey } from './store.ts';
import { newVersion } from './versions.ts';

/** Under one key no more random IVs are drawn (interface rule 40 §6.5). */
const MOST_ENCRYPTIONS = 2 ** 32;

type Due = { id: string; tenant_id: string; sandbox: boolean; key_type: KeyType; current_version: number; trigger: Rotation['trigger'] };

/**
 * The hourly job of all workspaces: rotates keys whose active version is older than `auto_rotate_days`, or has encrypted too often. A key that can't be
 * rotated holds up no other, and is tried again in an hour. Two workers at once rotate each key once. @returns how many were rotated
 */
export async function rotateDueKeys(db: Db, now: Date, signal?: AbortSignal): Promise<number> {
  let rotated = 0;
  for (const due of await dueKeys(db, now)) {
    if (signal?.aborted) break;
    try {
      if (await rotateDue(db, due, now)) rotated++;
    } catch (error) {
      log.error({ err: error, tenant_id: due.tenant_id, key_id: due.id }, 'cannot rotate a crypto key that is due');
    }
  }
  return rotated;
}

const dueKeys = (db: Db, now: Date): Promise<Due[]> =>
  db.$queryRaw<Due[]>`
    select k.id, k.tenant_id, k.sandbox, k.key_type, k.current_version, 'schedule' as trigger
      from crypto_keys k join crypto_key_versions v on v.key_id = k.id and v.status = 'active'
      where k.auto_rotate_days is not null and k.deleted_at is null and v.created_at + k.auto_rotate_days * interval '1 day' <= ${now}
    union
    select k.id, k.tenant_id, k.sandbox, k.key_type, k.current_version, 'encryption_limit'
      from crypto_key_versions v join crypto_keys k on v.key_id = k.id
      where v.status = 'active' and v.encrypt_count >= 2147483648 and v.encrypt_count >= ${MOST_ENCRYPTIONS}
        and k.deleted_at is null and k.key_type = 'aes256-gcm'`;

async function rotateDue(db: Db, { id, tenant_id, sandbox, key_type, current_version, trigger }: Due, now: Date): Promise<boolean> {
  const ctx = systemContext(db, { tenant_id, sandbox, now, label: 'key rotation' });
  const next = await newVersion(ctx, key_type);
  return mutate(ctx, async (tx) => {
    const key = await lockedKey(tx, ctx, id);
    // Somebody else was faster.
    if (key.current_version !== current_version) return unchanged(false);
    const { entry } = await rotateKey(tx, ctx, id, { next, ...(trigger ? { trigger } : {}) });
    return audited(true, entry);
  });
}
