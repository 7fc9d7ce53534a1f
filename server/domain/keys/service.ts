import { newTenantKey } from '#server/crypto/tenant-key.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { env } from '#server/platform/env.ts';
import { rootKeys } from '#server/platform/keys.ts';
import { sql } from '#server/platform/sql.ts';
import { internalName } from './providers.shared.ts';
import { noConfig } from './rotation.ts';
import { valuesByVersion } from './values.ts';

export { onboardTenantKms } from './onboarding.ts';
export { revokeTenantKey } from './revocation.ts';
export { resumeRewraps, rewrap } from './rewrap.ts';
export { rotateRootKey } from './root-rotation.ts';
export { offboardTenantKms, rotateTenantKey } from './rotation.ts';
export { pollSealed, unsealTenant, verifyTenantKms } from './seals.ts';

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

/** The workspace's KMS and what it wraps (interface rule 31 §7.1). @throws Refusal no_kms_config */
export async function getTenantKms(ctx: Ctx) {
  const config = await read(ctx, (tx) => tx.tenant_kms_configs.findUnique({ where: { tenant_id: ctx.tenant_id } }));
  if (!config) throw noConfig();
  const { external_id: _, ...shown } = config.config as Record<string, string>;
  return {
    config: { ...config, provider: internalName(config.provider), config: shown },
    ...(await listTenantKeys(ctx)),
    operator_identity: operatorIdentity(),
  };
}

/** What the customer's side needs to know before the service may use a key there. */
export async function kmsSetup(ctx: Ctx) {
  const { kms_external_id } = await read(ctx, (tx) =>
    tx.tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { kms_external_id: true } }),
  );
  return { external_id: kms_external_id, operator_identity: operatorIdentity() };
}

/** Whether the workspace is sealed, in one look-up: the banner over every page. */
export async function kmsState(ctx: Ctx) {
  const { config, active } = await read(ctx, async (tx) => ({
    config: await tx.tenant_kms_configs.findUnique({ where: { tenant_id: ctx.tenant_id } }),
    active: await tx.tenant_master_keys.findFirst({
      where: { tenant_id: ctx.tenant_id, status: 'active' },
      select: { wrap_method: true },
    }),
  }));
  return {
    wrap_method: active?.wrap_method ?? null,
    provider: config?.provider ?? null,
    kms_key_ref: config?.kms_key_ref ?? null,
    last_verified_at: config?.last_verified_at ?? null,
    leaving: config?.leaving ?? false,
    sealed_since: config?.sealed_since ?? null,
    sealed_reason: config?.sealed_reason ?? null,
    last_error: config?.last_verify_error ?? null,
  };
}

const operatorIdentity = () => ({
  aws_account_id: env.KMS_AWS_ACCOUNT_ID ?? null,
  gcp_principal: env.KMS_GCP_PRINCIPAL ?? null,
  azure_app_id: env.KMS_AZURE_APP_ID ?? null,
});

async function rewrapState(tenantId: string, remaining: number) {
  const { rows } = await sql().query<{
    id: string;
    from_version: number;
    to_version: number;
    rows_done: string;
    completed_at: Date | null;
    live: boolean;
    sealed: boolean;
  }>(
    'select id, from_version, to_version, rows_done, completed_at, coalesce(expires_at > now() and owner is not null, false) as live, exists (select from tenant_kms_configs c where c.tenant_id = $1 and c.sealed_since is not null) as sealed from rewrap_leases where tenant_id = $1 order by id desc limit 1',
    [tenantId],
  );
  const [lease] = rows;
  if (!lease) return null;
  const done = Number(lease.rows_done);
  const state = lease.completed_at
    ? ('completed' as const)
    : lease.sealed
      ? ('paused' as const)
      : lease.live
        ? ('running' as const)
        : ('waiting' as const);
  return {
    lease_id: Number(lease.id),
    from_version: lease.from_version,
    to_version: lease.to_version,
    rows_done: done,
    rows_total: done + (lease.completed_at ? 0 : remaining),
    state,
  };
}
