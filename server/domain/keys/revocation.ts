import type { z } from 'zod';
import { appendCritical } from '#server/domain/audit-logs/service.ts';
import { type Ctx, roleOf } from '#server/kernel/context.ts';
import { inTransaction, type Tx } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { takeStepUp } from '#server/kernel/step-up.ts';
import { keyring } from '#server/platform/keys.ts';
import type { RevokeKey } from './schema.ts';
import { valuesByVersion } from './values.ts';
import { lockKeys } from './versions.ts';

/**
 * Destroys a version of the workspace's master key (interface rule 31 §7.5): what it still wraps can never be read again. The critical entry comes first, in the same
 * transaction. @throws Refusal key_version_not_found, already_revoked, version_active, rewrap_pending, role_denied, audit_unavailable, validation_error
 */
export async function revokeTenantKey(ctx: Ctx, { version, confirm_slug, force }: z.output<typeof RevokeKey>) {
  if (force && roleOf(ctx.actor) !== 'owner')
    throw new Refusal('role_denied', 'Only an Owner can revoke a version whose values would be lost.');
  const answer = await inTransaction(ctx, async (tx) => {
    const workspace = await tx.tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { slug: true } });
    if (confirm_slug !== workspace.slug) throw invalid('confirm_slug', 'must be the slug of this workspace');
    await takeStepUp(tx, ctx);
    await lockKeys(tx, ctx);
    const key = await revocable(tx, ctx, version, force);
    const rows_erased = (await valuesByVersion(ctx.tenant_id)).get(version) ?? 0;
    if (!force && (rows_erased > 0 || key.rewrap_completed_at === null)) throw rewrapPending(version, rows_erased);
    await appendCritical(tx, ctx, {
      action: 'byok.kms.revoke',
      resource_type: 'tenant_master_key',
      resource_id: key.id,
      details: { version, force, rows_erased },
    });
    await tx.tenant_master_keys.update({
      where: { id: key.id },
      data: { wrapped_key: null, status: 'revoked', revoked_at: ctx.now },
      select: { id: true },
    });
    const sealed = key.status === 'active';
    if (sealed) await sealForGood(tx, ctx);
    return { revoked: true as const, version, rows_erased, sealed };
  });
  keyring().evict(ctx.tenant_id);
  return answer;
}

/** Counting is not enough: the job also signs capability tokens anew, and knows of damaged values. */
const rewrapPending = (version: number, rows_remaining: number) =>
  new Refusal(
    'rewrap_pending',
    rows_remaining > 0
      ? `${rows_remaining} stored values are still under version ${version}. Wait until they are re-wrapped.`
      : `Re-wrapping of version ${version} hasn't finished. Try again in a few minutes.`,
    { extra: { rows_remaining } },
  );

async function revocable(tx: Tx, ctx: Ctx, version: number, force: boolean) {
  const key = await tx.tenant_master_keys.findUnique({
    where: { tenant_id_version: { tenant_id: ctx.tenant_id, version } },
    select: { id: true, status: true, rewrap_completed_at: true },
  });
  if (!key) throw new Refusal('key_version_not_found', `This workspace has no key version ${version}.`);
  if (key.status === 'revoked') throw new Refusal('already_revoked', `Version ${version} is already revoked.`);
  if (key.status === 'active' && !force)
    throw new Refusal('version_active', `Version ${version} is in use. Rotate the key first, and wait until its values are re-wrapped.`);
  return key;
}

/** The workspace's own end: nothing it stored can be opened again, and no KMS can change that. */
const sealForGood = (tx: Tx, ctx: Ctx) =>
  tx.tenant_kms_configs.updateMany({
    where: { tenant_id: ctx.tenant_id },
    data: { sealed_since: ctx.now, sealed_reason: 'key_revoked', last_verify_error: 'key_revoked' },
  });
