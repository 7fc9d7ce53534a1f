import { TenantKeyUnavailable } from '#server/crypto/keyring.ts';
import { DecryptFailed } from '#server/crypto/svt1.ts';
import { newTenantKey } from '#server/crypto/tenant-key.ts';
import { appendCritical } from '#server/domain/audit-logs/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { inTransaction, read, type Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { keyring, rootKeys } from '#server/platform/keys.ts';
import { log } from '#server/platform/log.ts';
import { addJob } from '#server/platform/queue.ts';
import { sql } from '#server/platform/sql.ts';
import { SEALED_TABLES } from './sealed-tables.ts';

export { resumeRewraps, rewrap } from './rewrap.ts';
export { rotateRootKey } from './root-rotation.ts';

/** Version 1 of a tenant's master key, wrapped by the root key; inside the transaction that creates the tenant (interface rule 31 §4). */
export async function createTenantKey(tx: Tx, tenantId: string, now: Date): Promise<void> {
  const root = rootKeys().current;
  await tx.tenant_master_keys.create({
    data: {
      id: newId(),
      tenant_id: tenantId,
      version: 1,
      wrap_method: 'global',
      status: 'active',
      created_at: now,
      ...newTenantKey(root, tenantId, 1),
    },
  });
}

export type Rotated = { rotated: true; new_version: number; rewrap_lease_id: number | null };

/**
 * A new master key for the workspace; the old one goes on opening what it wrapped until the re-wrapping job is through (interface rule 31 §7.3).
 * Recorded in the critical chain in the same transaction. A lease that could not be issued does not undo the rotation: the next sweep issues it.
 * @throws Refusal rotation_in_progress, conflict when a customer's KMS holds the key, audit_unavailable
 */
export async function rotateTenantKey(ctx: Ctx): Promise<Rotated> {
  // Whoever cannot open the key in use has another root key in hand, and would wrap the next one where the service cannot reach it.
  await keyring().activeTmk(ctx.tenant_id).catch(whenUnopened);
  const { from, to } = await inTransaction(ctx, (tx) => replaceKey(tx, ctx));
  keyring().evict(ctx.tenant_id);
  const leaseId = await issueLease(ctx.tenant_id, from, to).catch((error: unknown) => {
    log.error({ err: error, tenant_id: ctx.tenant_id }, 'cannot issue the re-wrapping lease; the hourly sweep will');
    return null;
  });
  return { rotated: true, new_version: to, rewrap_lease_id: leaseId };
}

function whenUnopened(error: unknown): void {
  if (error instanceof TenantKeyUnavailable && error.reason !== 'revoked') return; // none, or a KMS's: told by name below
  if (!(error instanceof DecryptFailed) && !(error instanceof TenantKeyUnavailable)) throw error;
  throw new Refusal('conflict', "The active key can't be decrypted with this process's root key, so it wasn't rotated.", { cause: error });
}

async function replaceKey(tx: Tx, ctx: Ctx): Promise<{ from: number; to: number }> {
  const [lock] = await tx.$queryRaw<
    { taken: boolean }[]
  >`select pg_try_advisory_xact_lock(hashtextextended(${`tmk:${ctx.tenant_id}`}, 0)) as taken`;
  if (!lock?.taken) throw new Refusal('rotation_in_progress', "This workspace's key is already being rotated.");
  const versions = await tx.tenant_master_keys.findMany({
    where: { tenant_id: ctx.tenant_id },
    orderBy: { version: 'desc' },
    select: { id: true, version: true, status: true, wrap_method: true },
  });
  const active = versions.find((v) => v.status === 'active');
  if (!active) throw new Refusal('conflict', 'This workspace has no active key to rotate.');
  if (active.wrap_method !== 'global')
    throw new Refusal('conflict', "This workspace's key is held by a KMS, and this installation can't rotate it there.");
  const to = (versions[0]?.version ?? 0) + 1;
  const id = newId();
  await appendCritical(tx, ctx, {
    action: 'byok.kms.rotate',
    resource_type: 'tenant_master_key',
    resource_id: id,
    details: { from_version: active.version, to_version: to, wrap_method: 'global' },
  });
  await tx.tenant_master_keys.update({ where: { id: active.id }, data: { status: 'retired', retired_at: ctx.now } });
  const wrapped = newTenantKey(rootKeys().current, ctx.tenant_id, to);
  await tx.tenant_master_keys.create({
    data: { id, tenant_id: ctx.tenant_id, version: to, wrap_method: 'global', status: 'active', created_at: ctx.now, ...wrapped },
  });
  return { from: active.version, to };
}

/** The lease row is what counts; the job only starts the work sooner than the minute's sweep. */
async function issueLease(tenantId: string, from: number, to: number): Promise<number> {
  const { rows } = await sql().query<{ id: string }>(
    'insert into rewrap_leases (tenant_id, from_version, to_version) values ($1, $2, $3) returning id',
    [tenantId, from, to],
  );
  const id = Number(rows[0]?.id);
  await addJob(null, 'rewrap', { lease_id: id }, { job_key: `rewrap:${id}` }).catch((error: unknown) =>
    log.warn({ err: error }, 'cannot queue the re-wrapping job; the minute sweep starts it'),
  );
  return id;
}

/** The workspace's keys, newest first, with how many values each still wraps, and the re-wrapping that runs (interface rule 31 §7.1). */
export async function listTenantKeys(ctx: Ctx) {
  const keys = await read(ctx, (tx) =>
    tx.tenant_master_keys.findMany({
      where: { tenant_id: ctx.tenant_id },
      orderBy: { version: 'desc' },
      select: {
        id: true,
        version: true,
        wrap_method: true,
        status: true,
        created_at: true,
        retired_at: true,
        revoked_at: true,
        rewrap_completed_at: true,
      },
    }),
  );
  const values = await valuesByVersion(ctx.tenant_id);
  const active = keys.find((k) => k.status === 'active')?.version ?? 0;
  const remaining = [...values].reduce((sum, [version, n]) => (version < active ? sum + n : sum), 0);
  return { keys: keys.map((k) => ({ ...k, values: values.get(k.version) ?? 0 })), rewrap: await rewrapState(ctx.tenant_id, remaining) };
}

/** Over both spaces, hence outside row-level security. */
async function valuesByVersion(tenantId: string): Promise<Map<number, number>> {
  const parts = SEALED_TABLES.map(
    (t) => `select ${t.version} as version, count(*) as n from ${t.table} where tenant_id = $1 and ${t.wrapped} is not null group by 1`,
  );
  const { rows } = await sql().query<{ version: number; n: number }>(
    `select version, sum(n)::float8 as n from (${parts.join(' union all ')}) v group by 1`,
    [tenantId],
  );
  return new Map(rows.map((r) => [r.version, r.n]));
}

async function rewrapState(tenantId: string, remaining: number) {
  const { rows } = await sql().query<{
    id: string;
    from_version: number;
    to_version: number;
    rows_done: string;
    completed_at: Date | null;
    live: boolean;
  }>(
    'select id, from_version, to_version, rows_done, completed_at, coalesce(expires_at > now(), false) as live from rewrap_leases where tenant_id = $1 order by id desc limit 1',
    [tenantId],
  );
  const [lease] = rows;
  if (!lease) return null;
  const done = Number(lease.rows_done);
  const state = lease.completed_at ? ('completed' as const) : lease.live ? ('running' as const) : ('waiting' as const);
  return {
    lease_id: Number(lease.id),
    from_version: lease.from_version,
    to_version: lease.to_version,
    rows_done: done,
    rows_total: done + (lease.completed_at ? 0 : remaining),
    state,
  };
}
