import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { type AuditEntry, audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { NO_DELAY } from './rotation.ts';
import { ERASED, type KeyRow, lockedKey, personOf, type VersionRow, versionByNumber, versionsOf } from './store.ts';
import { tokensUnder, usersOf } from './usage.ts';

const DAY = 24 * 3_600_000;

/**
 * Erases one version for good; an erased one stays erased. Also of a vault's key: that is how its tokens are erased.
 * @throws Refusal not_found, deletion_not_allowed while the latch is down, in_use for the active version
 */
export function destroyVersion(ctx: Ctx, { name, n }: { name: string; n: string }) {
  return mutate(ctx, async (tx) => {
    const key = await lockedKey(tx, ctx, name);
    const version = await versionByNumber(tx, ctx, key.id, n);
    const answer = { deleted: true as const, destroyed: version.version };
    if (version.status === 'destroyed') return unchanged(answer);
    assertDestroyable(key, version);
    return audited(answer, ...(await destroyAll(tx, ctx, key, [version])));
  });
}

/**
 * Destroys a version after 7 to 30 days. Until then it refuses every use, so that whatever still needs it shows while it can be brought back.
 * @throws Refusal as destroyVersion, and key_version_destroyed
 */
export function scheduleDestruction(ctx: Ctx, { name, n, days }: { name: string; n: string; days: number }) {
  return mutate(ctx, async (tx) => {
    const key = await lockedKey(tx, ctx, name);
    const version = assertLive(key, await versionByNumber(tx, ctx, key.id, n));
    assertDestroyable(key, version);
    const destroy_after = new Date(ctx.now.getTime() + days * DAY);
    await tx.crypto_key_versions.update({ where: { id: version.id, ...own(ctx) }, data: { destroy_after } });
    await dropDelayFor(tx, ctx, key, [version.version]);
    return audited({ version: version.version, destroy_after }, changeOf(key, version, destroy_after));
  });
}

/** Brings a version back that was to be destroyed. @throws Refusal not_found, key_version_destroyed */
export function cancelDestruction(ctx: Ctx, { name, n }: { name: string; n: string }) {
  return mutate(ctx, async (tx) => {
    const key = await lockedKey(tx, ctx, name);
    const version = assertLive(key, await versionByNumber(tx, ctx, key.id, n));
    const answer = { version: version.version, destroy_after: null };
    if (version.destroy_after === null) return unchanged(answer);
    await tx.crypto_key_versions.update({ where: { id: version.id, ...own(ctx) }, data: { destroy_after: null } });
    return audited(answer, changeOf(key, version, null));
  });
}

/**
 * Destroys every version below one. @throws Refusal not_found, validation_error above the active version, deletion_not_allowed while the latch is down
 */
export function trimKey(ctx: Ctx, { name, min_available_version }: { name: string; min_available_version: number }) {
  return mutate(ctx, async (tx) => {
    const key = await lockedKey(tx, ctx, name);
    if (min_available_version > key.current_version)
      throw new Refusal('validation_error', `min_available_version: must be at most ${key.current_version}, the active version`);
    assertLatch(key);
    const below = (await versionsOf(tx, ctx, key.id)).filter((v) => v.version < min_available_version && v.status !== 'destroyed');
    const destroyed = below.map((v) => v.version).reverse();
    const [first, ...more] = await destroyAll(tx, ctx, key, below);
    return first ? audited({ destroyed }, first, more) : unchanged({ destroyed });
  });
}

/**
 * Removes a key with all its versions. A tombstone stays, the name is free.
 * @throws Refusal not_found, key_managed for keys of vaults and of the service, deletion_not_allowed while the latch is down, in_use
 */
export function deleteCryptoKey(ctx: Ctx, { name }: { name: string }) {
  return mutate(ctx, async (tx) => {
    const key = await lockedKey(tx, ctx, name);
    if (key.managed_by !== 'tenant')
      throw new Refusal(
        'key_managed',
        key.managed_by === 'vault'
          ? `${key.name} belongs to a vault. Delete the vault instead.`
          : `${key.name} belongs to the service and can't be deleted.`,
      );
    assertLatch(key);
    const users = await usersOf(tx, ctx, key.id);
    if (users.length > 0)
      throw new Refusal('in_use', `${key.name} is still used by ${users.slice(0, 5).join(', ')}${users.length > 5 ? ' and more' : ''}.`);
    const { entry } = await destroyAllVersions(tx, ctx, key.id);
    return audited({ deleted: true as const }, entry);
  });
}

/**
 * Erases every version of a key, the active one as well, and leaves a tombstone; in the transaction of another change, such as the deletion of the
 * vault that owns it. Asks for no latch. The caller writes `entry`. @throws Refusal not_found
 */
export async function destroyAllVersions(tx: Tx, ctx: Ctx, keyId: string): Promise<{ versions: number[]; entry: AuditEntry }> {
  const key = await lockedKey(tx, ctx, keyId);
  const live = (await versionsOf(tx, ctx, key.id)).filter((v) => v.status !== 'destroyed').reverse();
  const affected_tokens = await tokensUnder(tx, ctx, key.id);
  await erase(tx, ctx, live);
  await tx.crypto_keys.update({
    where: { id: key.id, ...own(ctx) },
    data: { deleted_at: ctx.now, jwks_public: false, auto_rotate_days: null, ...NO_DELAY, updated_at: ctx.now },
  });
  const versions = live.map((v) => v.version);
  return {
    versions,
    entry: {
      action: 'delete',
      resource_type: 'crypto_key',
      resource_id: key.id,
      name: key.name,
      details: { versions, affected_tokens, key_type: key.key_type, managed_by: key.managed_by },
    },
  };
}

/** Erases versions that may be destroyed now. @returns an audit entry of each */
export async function destroyAll(
  tx: Tx,
  ctx: Ctx,
  key: KeyRow,
  versions: readonly VersionRow[],
  details: Record<string, unknown> = {},
): Promise<[AuditEntry, ...AuditEntry[]]> {
  const entries: AuditEntry[] = [];
  for (const { version } of versions)
    entries.push({
      action: 'delete',
      resource_type: 'crypto_key',
      resource_id: key.id,
      name: key.name,
      details: { version, key_version: version, affected_tokens: await tokensUnder(tx, ctx, key.id, version), ...details },
    });
  await erase(tx, ctx, versions);
  await dropDelayFor(
    tx,
    ctx,
    key,
    versions.map((v) => v.version),
  );
  return entries as [AuditEntry, ...AuditEntry[]];
}

const erase = (tx: Tx, ctx: Ctx, versions: readonly VersionRow[]) =>
  tx.crypto_key_versions.updateMany({
    where: { ...own(ctx), id: { in: versions.map(({ id }) => id) } },
    data: ERASED(ctx.now, personOf(ctx)),
  });

/** JWTs are no longer signed with a version that is gone. */
async function dropDelayFor(tx: Tx, ctx: Ctx, key: KeyRow, versions: readonly number[]): Promise<void> {
  const gone = key.jwt_version !== null && versions.includes(key.jwt_version);
  await tx.crypto_keys.update({ where: { id: key.id, ...own(ctx) }, data: { ...(gone ? NO_DELAY : {}), updated_at: ctx.now } });
}

function assertDestroyable(key: KeyRow, version: VersionRow): void {
  assertLatch(key);
  if (version.status === 'active')
    throw new Refusal('in_use', `Version ${version.version} is the active version of ${key.name}. Rotate the key first.`);
}

function assertLatch(key: KeyRow): void {
  if (!key.deletion_allowed)
    throw new Refusal('deletion_not_allowed', `${key.name} is protected from destruction. Set deletion_allowed to true first.`);
}

function assertLive(key: KeyRow, version: VersionRow): VersionRow {
  if (version.status === 'destroyed')
    throw new Refusal('key_version_destroyed', `Version ${version.version} of ${key.name} is destroyed and can't come back.`);
  return version;
}

const changeOf = (key: KeyRow, version: VersionRow, to: Date | null): AuditEntry => ({
  action: 'update',
  resource_type: 'crypto_key',
  resource_id: key.id,
  name: key.name,
  changes: [{ field: 'destroy_after', from: version.destroy_after, to }],
  details: { version: version.version, key_version: version.version },
});
