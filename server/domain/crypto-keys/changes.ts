import type { z } from 'zod';
import { denyingPolicy, policyDenied } from '#server/domain/policies/service.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { confirmLoosening } from '#server/kernel/confirmations.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { keyTypeCan } from '#server/kernel/key-types.ts';
import { type Looser, loosened, raised } from '#server/kernel/loosening.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { confirmChange } from '#server/kernel/step-up.ts';
import { env } from '#server/platform/env.ts';
import { assertOwnKey, NO_DELAY } from './rotation.ts';
import type { UpdateCryptoKey } from './schema.ts';
import { type KeyRow, lockedKey } from './store.ts';

type Changes = Omit<z.output<typeof UpdateCryptoKey>, 'name'>;

/**
 * Latch and settings. Raising the latch also takes `transit:destroy`.
 * @throws Refusal not_found, forbidden, validation_error, key_managed for settings of a vault's key beyond latch and description
 */
export function updateCryptoKey(ctx: Ctx, { name, ...input }: z.output<typeof UpdateCryptoKey>) {
  return mutate(ctx, async (tx) => {
    const before = await lockedKey(tx, ctx, name);
    assertFits(before, input);
    if (input.deletion_allowed && !before.deletion_allowed) {
      await assertMayDestroy(ctx, before);
      await confirmChange(tx, ctx, env.PUBLIC_ADMIN_URL, 'crypto.destroy_latch');
    }
    await confirmLoosening(tx, ctx, env.PUBLIC_ADMIN_URL, loosened(before, input, KEY_PROTECTIONS));
    const after = (await tx.crypto_keys.update({
      where: { id: before.id, ...own(ctx) },
      data: { ...input, ...(endsDelay(before, input) ? NO_DELAY : {}), updated_at: ctx.now },
    })) as KeyRow;
    const kept = input.deletion_allowed === false ? await keepVersions(tx, ctx, before) : [];
    return audited(after, {
      action: 'update',
      resource_type: 'crypto_key',
      resource_id: after.id,
      name: after.name,
      changes: changesOf(before, after, Object.keys(input)),
      details: { key_version: after.current_version, ...(kept.length > 0 ? { destruction_cancelled: kept } : {}) },
    });
  });
}

type Settings = Omit<Changes, 'key_type' | 'mode' | 'derived' | 'convergent'>;

/** Which changes of a key leave less of what protects the data under it. */
export const KEY_PROTECTIONS: Looser<Settings> = {
  // Allowing destruction has a confirmation of its own.
  deletion_allowed: 'harmless',
  description: 'harmless',
  auto_rotate_days: raised,
  jwks_public: 'harmless',
  min_decryption_version: (before, after) => after < before,
  min_encryption_version: (before, after) => after < before,
};

/** A protected key loses nothing: what was to be destroyed stays. @returns those versions */
async function keepVersions(tx: Tx, ctx: Ctx, { id }: KeyRow): Promise<number[]> {
  const scheduled = { ...own(ctx), key_id: id, destroy_after: { not: null } };
  const rows = await tx.crypto_key_versions.findMany({ where: scheduled, orderBy: { version: 'asc' }, select: { version: true } });
  await tx.crypto_key_versions.updateMany({ where: scheduled, data: { destroy_after: null } });
  return rows.map(({ version }) => version);
}

function assertFits(key: KeyRow, input: Changes): void {
  const { deletion_allowed: _, description: __, ...settings } = input;
  if (Object.keys(settings).length > 0) assertOwnKey(key, 'Only its description and deletion_allowed can be changed here.');
  if (input.jwks_public && !keyTypeCan(key.key_type, 'jwks'))
    throw invalid('jwks_public', `a key of type ${key.key_type} has no public key set`);
  for (const field of ['min_decryption_version', 'min_encryption_version'] as const)
    if ((input[field] ?? 1) > key.current_version) throw invalid(field, `must be at most ${key.current_version}, the active version`);
}

/** The latch is what stands between a key and its destruction, so whoever raises it must be allowed to destroy. */
async function assertMayDestroy(ctx: Ctx, { id, name }: KeyRow): Promise<void> {
  if (!ctx.actor.capabilities.has('transit:destroy'))
    throw ctx.actor.type === 'member'
      ? new Refusal(
          'role_denied',
          `Your role (${ctx.actor.role}) lacks the capability transit:destroy, required to allow the destruction of a key. Roles with access: Owner and Admin.`,
        )
      : new Refusal('forbidden', 'This credential lacks the capability transit:destroy, required to set deletion_allowed to true.');
  const policy = await denyingPolicy(ctx, 'transit:destroy', { id, name });
  if (policy) throw policyDenied(ctx, policy, 'transit:destroy');
}

/** JWTs are signed with an older version for a while after a rotation; not below a minimum, and not once nobody reads the public set. */
const endsDelay = (key: KeyRow, input: Changes): boolean =>
  input.jwks_public === false ||
  (key.jwt_version !== null && Math.max(input.min_decryption_version ?? 1, input.min_encryption_version ?? 1) > key.jwt_version);
