import { TenantKeyUnavailable, TenantSealed } from '#server/crypto/keyring.ts';
import { DecryptFailed } from '#server/crypto/svt1.ts';
import { appendCritical } from '#server/domain/audit-logs/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { inTransaction, read } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { takeStepUp } from '#server/kernel/step-up.ts';
import { keyring } from '#server/platform/keys.ts';
import { KmsFailure } from '#server/platform/kms/kms.ts';
import { activate, activeVersion, issueLease, lastVersion, lockKeys, newVersion, placeOf } from './versions.ts';

export type Rotated = { rotated: true; new_version: number; rewrap_lease_id: number | null };

/**
 * A new master key for the workspace; the old one goes on opening what it wrapped until the re-wrapping job is through (interface rule 31 §7.3). A customer's KMS
 * wraps the new one if it wraps the old one. Recorded in the critical chain in the same transaction. A lease that could not be issued does not undo the
 * rotation: the next sweep issues it. @throws Refusal rotation_in_progress, sealed, conflict, kms_probe_failed, audit_unavailable
 */
export async function rotateTenantKey(ctx: Ctx): Promise<Rotated> {
  const { to, lease } = await replaceKey(ctx, 'own');
  return { rotated: true, new_version: to, rewrap_lease_id: lease };
}

/** Leaves the customer's KMS: the next version is wrapped by the service, and the configuration goes when nothing needs the old ones (interface rule 31 §7.6). */
export async function offboardTenantKms(ctx: Ctx): Promise<Rotated> {
  const { to, lease } = await replaceKey(ctx, 'global');
  return { rotated: true, new_version: to, rewrap_lease_id: lease };
}

async function replaceKey(ctx: Ctx, wrapping: 'own' | 'global') {
  const config = await read(ctx, (tx) => tx.tenant_kms_configs.findUnique({ where: { tenant_id: ctx.tenant_id } }));
  if (wrapping === 'global' && (!config || config.leaving)) throw noConfig();
  if (config?.sealed_since) throw sealed();
  // Whoever can't open the key in use has another root key in hand, and would wrap the next one where the service can't reach it.
  await keyring().activeTmk(ctx.tenant_id).catch(whenUnopened);
  const last = await lastVersion(ctx);
  const to = last + 1;
  const place = wrapping === 'own' && config && !config.leaving ? placeOf(config) : null;
  const wrapped = await newVersion(ctx.tenant_id, to, place).catch(whenRefused);
  const from = await inTransaction(ctx, async (tx) => {
    await takeStepUp(tx, ctx);
    await lockKeys(tx, ctx);
    const active = await activeVersion(tx, ctx, last);
    const id = newId();
    await appendCritical(tx, ctx, {
      action: 'byok.kms.rotate',
      resource_type: 'tenant_master_key',
      resource_id: id,
      details: {
        from_version: active.version,
        to_version: to,
        wrap_method: wrapped.wrap_method,
        ...(wrapping === 'global' ? { to: 'global' } : {}),
      },
    });
    await activate(tx, ctx, active, { id, version: to }, wrapped);
    if (wrapping === 'global')
      await tx.tenant_kms_configs.update({ where: { tenant_id: ctx.tenant_id }, data: { leaving: true }, select: { leaving: true } });
    return active.version;
  });
  keyring().evict(ctx.tenant_id);
  return { to, lease: await issueLease(ctx.tenant_id, from, to) };
}

export const noConfig = () => new Refusal('no_kms_config', 'This workspace has no KMS of its own.');
export const sealed = () =>
  new Refusal('sealed', 'This workspace is sealed: its KMS refuses its key or is unreachable. Restore access and unseal it first.');

function whenUnopened(error: unknown): void {
  if (error instanceof TenantSealed) throw sealed();
  if (error instanceof TenantKeyUnavailable && error.reason !== 'revoked') return; // none: told by name below
  if (!(error instanceof DecryptFailed) && !(error instanceof TenantKeyUnavailable)) throw error;
  throw new Refusal('conflict', "The active key can't be decrypted with this process's root key, so it wasn't rotated.", { cause: error });
}

function whenRefused(error: unknown): never {
  if (error instanceof KmsFailure) throw probeFailed(error);
  throw error;
}

/** What the KMS answered, in the words of §8: its own code, and nothing that it wrote. */
export const probeFailed = (error: KmsFailure): Refusal =>
  new Refusal('kms_probe_failed', `The KMS ${describeFailure(error)}. Check the key and its permissions, then try again.`, {
    extra: { reason: error.reason },
    cause: error,
  });

export const describeFailure = ({ reason, detail }: Pick<KmsFailure, 'reason' | 'detail'>): string =>
  reason === 'access_denied' ? `refused the key (${detail})` : `couldn't be reached (${detail})`;
