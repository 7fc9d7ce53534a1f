import type { KmsPlace, TenantKeyRow } from '#server/crypto/keyring.ts';
import { randomBuffer } from '#server/crypto/random.ts';
import { newTenantKey } from '#server/crypto/tenant-key.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { rootKeys } from '#server/platform/keys.ts';
import { wrapByKms } from '#server/platform/kms/provider.ts';
import { log } from '#server/platform/log.ts';
import { addJob } from '#server/platform/queue.ts';
import { sql } from '#server/platform/sql.ts';

/** The columns of a new version that say what wraps it. */
export type Wrapped = Pick<
  Prisma.tenant_master_keysUncheckedCreateInput,
  'wrap_method' | 'wrapped_key' | 'root_key_id' | 'kms_provider' | 'kms_key_ref' | 'kms_key_version'
> & { kms_config?: Prisma.InputJsonValue };

/** The place in a customer's KMS that a row of `tenant_kms_configs` or `tenant_master_keys` names. */
export const placeOf = (row: { provider: string; kms_key_ref: string; config: unknown; kms_key_version?: string | null }): KmsPlace => ({
  provider: row.provider,
  key_ref: row.kms_key_ref,
  config: row.config as KmsPlace['config'],
  key_version: row.kms_key_version ?? null,
});

/** A new master key for a version, wrapped by the customer's KMS, or by the root key without one. No transaction is open meanwhile. @throws KmsFailure */
export async function newVersion(tenantId: string, version: number, place: KmsPlace | null): Promise<Wrapped> {
  if (!place) return { wrap_method: 'global', ...newTenantKey(rootKeys().current, tenantId, version) };
  const bytes = randomBuffer(32);
  try {
    const { blob, key_version } = await wrapByKms(place, { tenantId, version }, bytes);
    return {
      wrap_method: 'customer_kms',
      wrapped_key: blob,
      kms_provider: place.provider,
      kms_key_ref: place.key_ref,
      kms_key_version: key_version,
      kms_config: { ...place.config },
    };
  } finally {
    bytes.fill(0);
  }
}

/** The newest version there is, whatever its state: the next one is one more. */
export const lastVersion = async (ctx: Ctx): Promise<number> =>
  read(
    ctx,
    async (tx) =>
      (await tx.tenant_master_keys.aggregate({ where: { tenant_id: ctx.tenant_id }, _max: { version: true } }))._max.version ?? 0,
  );

/** One change of a workspace's keys at a time. @throws Refusal rotation_in_progress */
export async function lockKeys(tx: Tx, ctx: Ctx): Promise<void> {
  const [lock] = await tx.$queryRaw<
    { taken: boolean }[]
  >`select pg_try_advisory_xact_lock(hashtextextended(${`tmk:${ctx.tenant_id}`}, 0)) as taken`;
  if (!lock?.taken) throw inProgress();
}

const inProgress = () => new Refusal('rotation_in_progress', "This workspace's key is already being rotated.");

/**
 * The version in use, which a new one is about to follow. Call it with the lock. @throws Refusal rotation_in_progress when another version was made since
 * `expected` was read, conflict when none is in use
 */
export async function activeVersion(tx: Tx, ctx: Ctx, expected: number) {
  const versions = await tx.tenant_master_keys.findMany({
    where: { tenant_id: ctx.tenant_id },
    orderBy: { version: 'desc' },
    select: { id: true, version: true, status: true, wrap_method: true },
  });
  if ((versions[0]?.version ?? 0) !== expected) throw inProgress();
  const active = versions.find((v) => v.status === 'active');
  if (!active) throw new Refusal('conflict', 'This workspace has no active key to rotate.');
  return active;
}

/** Retires the version in use for the new one, in the caller's transaction and after its critical entry. */
export async function activate(tx: Tx, ctx: Ctx, active: { id: string }, next: { id: string; version: number }, wrapped: Wrapped) {
  await tx.tenant_master_keys.update({ where: { id: active.id }, data: { status: 'retired', retired_at: ctx.now } });
  await tx.tenant_master_keys.create({ data: { ...next, ...wrapped, tenant_id: ctx.tenant_id, status: 'active', created_at: ctx.now } });
}

/** The lease row is what counts; the job only starts the work sooner than the minute's sweep. Null when it couldn't be issued: the hourly sweep will. */
export async function issueLease(tenantId: string, from: number, to: number): Promise<number | null> {
  try {
    const { rows } = await sql().query<{ id: string }>(
      'insert into rewrap_leases (tenant_id, from_version, to_version) values ($1, $2, $3) returning id',
      [tenantId, from, to],
    );
    const id = Number(rows[0]?.id);
    await addJob(null, 'rewrap', { lease_id: id }, { job_key: `rewrap:${id}` }).catch((error: unknown) =>
      log.warn({ err: error }, 'cannot queue the re-wrapping job; the minute sweep starts it'),
    );
    return id;
  } catch (error) {
    log.error({ err: error, tenant_id: tenantId }, 'cannot issue the re-wrapping lease; the hourly sweep will');
    return null;
  }
}

/** The version in use as the keyring unwraps it; null when there is none. */
export async function activeRow(tenantId: string): Promise<(TenantKeyRow & { wrapped_key: Buffer | null }) | null> {
  const { rows } = await sql().query<TenantKeyRow & { wrapped_key: Buffer | null }>(
    `select version, wrap_method, wrapped_key, root_key_id, status,
       case when kms_provider is not null then jsonb_build_object('provider', kms_provider, 'key_ref', kms_key_ref, 'config', kms_config, 'key_version', kms_key_version) end as kms
     from tenant_master_keys where tenant_id = $1 and status = 'active'`,
    [tenantId],
  );
  return rows[0] ?? null;
}
