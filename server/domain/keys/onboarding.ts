import type { z } from 'zod';
import type { KmsPlace } from '#server/crypto/keyring.ts';
import { appendCritical } from '#server/domain/audit-logs/service.ts';
import { dispatch, postTeamMails } from '#server/domain/mail/service.ts';
import { requireFeature } from '#server/domain/plans/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { inTransaction, read, type Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { env } from '#server/platform/env.ts';
import { keyring } from '#server/platform/keys.ts';
import { KmsFailure } from '#server/platform/kms/kms.ts';
import { probeKms } from '#server/platform/kms/provider.ts';
import { kmsPlace, refuseCredentials } from './kms-places.ts';
import { kmsOnboarded } from './letters.ts';
import { PROVIDERS } from './providers.shared.ts';
import { describeFailure, sealed } from './rotation.ts';
import type { OnboardKms } from './schema.ts';
import { activate, activeVersion, issueLease, lastVersion, lockKeys, newVersion } from './versions.ts';

/**
 * Puts the workspace's master key under the customer's own KMS (interface rule 31 §7.2), or under another key of it. The key is tried before anything is
 * written, so a wrong configuration changes nothing. @throws Refusal static_credentials_rejected, plan_feature, kms_verify_failed, sealed, rotation_in_progress,
 * audit_unavailable, validation_error
 */
export async function onboardTenantKms(ctx: Ctx, input: z.output<typeof OnboardKms>) {
  refuseCredentials(input);
  // The key is that of both spaces, so trying it in Test would be having it.
  requireFeature({ ...ctx, sandbox: false }, 'byok_kms');
  const { place, workspace } = await asked(ctx, input);
  const last = await lastVersion(ctx);
  const wrapped = await probeKms(place, ctx.tenant_id)
    .then(() => newVersion(ctx.tenant_id, last + 1, place))
    .catch(whenRefused);
  const next = { id: newId(), version: last + 1 };
  const { from, mails } = await inTransaction(ctx, async (tx) => {
    await lockKeys(tx, ctx);
    const active = await activeVersion(tx, ctx, last);
    await appendCritical(tx, ctx, {
      action: 'byok.kms.onboard',
      resource_type: 'tenant_kms_config',
      resource_id: ctx.tenant_id,
      details: { provider: place.provider, kms_key_ref: place.key_ref, new_key_version: next.version },
    });
    await putConfig(tx, ctx, place);
    await activate(tx, ctx, active, next, wrapped);
    const letter = kmsOnboarded({
      workspace: workspace.name,
      by: ctx.actor.label,
      provider: nameOf(place.provider),
      key: place.key_ref,
      url: `${env.PUBLIC_ADMIN_URL}/${workspace.slug}/settings/keys`,
    });
    const mails = await postTeamMails(tx, { tenant_id: ctx.tenant_id, kind: 'kms', letter, now: ctx.now });
    return { from: active.version, mails };
  });
  keyring().evict(ctx.tenant_id);
  for (const id of mails) dispatch(ctx.db, id);
  const lease = await issueLease(ctx.tenant_id, from, next.version);
  return {
    ok: true as const,
    provider: place.provider,
    kms_key_ref: place.key_ref,
    new_key_version: next.version,
    new_key_id: next.id,
    rewrap_status: lease === null ? ('pending' as const) : ('enqueued' as const),
    note: 'Values stored so far are moved to the new key in the background. Until that is done, revoking your key does not lock all of them.',
  };
}

/** A sealed workspace keeps the key that it has: another key could not open what that one wraps. */
async function asked(ctx: Ctx, input: z.output<typeof OnboardKms>) {
  const { workspace, config } = await read(ctx, async (tx) => ({
    workspace: await tx.tenants.findUniqueOrThrow({
      where: { id: ctx.tenant_id },
      select: { name: true, slug: true, kms_external_id: true },
    }),
    config: await tx.tenant_kms_configs.findUnique({ where: { tenant_id: ctx.tenant_id }, select: { sealed_since: true } }),
  }));
  const place = kmsPlace(input, workspace.kms_external_id);
  if (config?.sealed_since) throw sealed();
  return { place, workspace };
}

const putConfig = (tx: Tx, ctx: Ctx, { provider, key_ref, config }: KmsPlace) => {
  const data = {
    provider,
    kms_key_ref: key_ref,
    config: { ...config },
    last_verified_at: ctx.now,
    last_verify_error: null,
    polled_at: ctx.now,
    leaving: false,
  };
  return tx.tenant_kms_configs.upsert({
    where: { tenant_id: ctx.tenant_id },
    create: { tenant_id: ctx.tenant_id, ...data },
    update: data,
    select: { tenant_id: true },
  });
};

const nameOf = (provider: string): string =>
  Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider as keyof typeof PROVIDERS] : provider;

function whenRefused(error: unknown): never {
  if (!(error instanceof KmsFailure)) throw error;
  throw new Refusal('kms_verify_failed', `The KMS ${describeFailure(error)}. Nothing was changed. Check the key and its permissions.`, {
    extra: { reason: error.reason },
    cause: error,
  });
}
