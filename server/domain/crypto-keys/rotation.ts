import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { keyTypeCan } from '#server/kernel/key-types.ts';
import { type AuditEntry, audited, mutate } from '#server/kernel/mutate.ts';
import { type KeyRow, keyByRef, lockedKey } from './store.ts';
import { insertVersion, type NewVersion, newVersion } from './versions.ts';

export const MOST_LIVE_VERSIONS = 100;
/** Verifiers may keep a public key set for so long, in milliseconds. */
export const JWKS_MAX_AGE_MS = 300_000;

/** @throws Refusal not_found, key_managed for a vault's key, in_use with 100 live versions, tenant_sealed */
export async function rotateCryptoKey(ctx: Ctx, { name }: { name: string }) {
  const { id, key_type } = await read(ctx, async (tx) => assertOwnKey(await keyByRef(tx, ctx, name), 'Rotate the vault instead.'));
  const next = await newVersion(ctx, key_type);
  return mutate(ctx, async (tx) => {
    const { to_version, entry } = await rotateKey(tx, ctx, id, { next });
    return audited({ new_version: to_version }, entry);
  });
}

export type Rotation = {
  /** From `newVersion`, made before the transaction where generating takes long. */
  next?: NewVersion;
  /** Why, when nobody asked for it. */
  trigger?: 'schedule' | 'encryption_limit';
};

/**
 * The same in the transaction of another change, such as the rotation of a vault. Two at once give consecutive versions. The caller writes `entry`.
 * @throws Refusal not_found, in_use with 100 live versions, tenant_sealed
 */
export async function rotateKey(
  tx: Tx,
  ctx: Ctx,
  keyId: string,
  { next, trigger }: Rotation = {},
): Promise<{ key: KeyRow; from_version: number; to_version: number; entry: AuditEntry }> {
  const key = await lockedKey(tx, ctx, keyId);
  const live = await tx.crypto_key_versions.count({ where: { ...own(ctx), key_id: key.id, status: { not: 'destroyed' } } });
  if (live >= MOST_LIVE_VERSIONS)
    throw new Refusal('in_use', `${key.name} has ${live} live versions, the most there may be. Destroy old ones first.`);
  const made = next ?? (await newVersion(ctx, key.key_type));
  const [from_version, to_version] = [key.current_version, key.current_version + 1];
  await tx.crypto_key_versions.updateMany({
    where: { ...own(ctx), key_id: key.id, status: 'active' },
    data: { status: 'retired', retired_at: ctx.now },
  });
  await insertVersion(tx, ctx, key.id, to_version, made);
  const rotated = (await tx.crypto_keys.update({
    where: { id: key.id, ...own(ctx) },
    data: { current_version: to_version, ...delayOf(key, ctx.now), updated_at: ctx.now },
  })) as KeyRow;
  return {
    key: rotated,
    from_version,
    to_version,
    entry: {
      action: 'rotate',
      resource_type: 'crypto_key',
      resource_id: key.id,
      name: key.name,
      details: { from_version, to_version, key_version: to_version, ...(trigger ? { trigger } : {}) },
    },
  };
}

/**
 * Verifiers that hold the public key set from before the rotation know the new version once their copy is too old. Until then JWTs are signed with the
 * version that all of them know: after two rotations in a row that is still the first.
 */
function delayOf(key: KeyRow, now: Date): Pick<KeyRow, 'jwt_version' | 'jwt_version_from'> {
  if (!key.jwks_public || !keyTypeCan(key.key_type, 'jwt')) return NO_DELAY;
  const waiting = key.jwt_version !== null && key.jwt_version_from !== null && key.jwt_version_from > now;
  return { jwt_version: waiting ? key.jwt_version : key.current_version, jwt_version_from: new Date(now.getTime() + JWKS_MAX_AGE_MS) };
}
export const NO_DELAY = { jwt_version: null, jwt_version_from: null } as const;

/** @throws Refusal key_managed for a key that somebody's vault or the service itself manages */
export function assertOwnKey(key: KeyRow, instead: string): KeyRow {
  if (key.managed_by === 'vault') throw new Refusal('key_managed', `${key.name} belongs to a vault. ${instead}`);
  return key;
}
