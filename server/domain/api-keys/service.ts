import type { z } from 'zod';
import { requireFeature, withinPlan } from '#server/domain/plans/service.ts';
import { capabilitiesOfKey } from '#server/kernel/capabilities.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { confirmGrant, confirmLoosening } from '#server/kernel/confirmations.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { loosened } from '#server/kernel/loosening.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { confirmChange } from '#server/kernel/step-up.ts';
import { env } from '#server/platform/env.ts';
import { callersBounds, withinBounds } from './bounds.ts';
import { coveredGrants, coveredRoles, coveredScopes, grantsOf, inheritedRoles } from './grants.ts';
import { insertKey } from './minting.ts';
import { notifyKeyCreated } from './notices.ts';
import type { CreateApiKey, UpdateApiKey } from './schema.ts';
import { addressList, expiry, KEY_PROTECTIONS, limits } from './settings.ts';
import { hasEnded, keyByRef, lockedKey, oneWithUsage } from './store.ts';

export { coveredScopes } from './grants.ts';
export { listApiKeys } from './listing.ts';
export { insertKey } from './minting.ts';
export { revokeApiKey } from './revocation.ts';
export { rotateApiKey } from './rotation.ts';
export { listSpaceKeys } from './space-keys.ts';
export { lockedKey } from './store.ts';

export const getApiKey = (ctx: Ctx, input: { id: string }) =>
  read(ctx, async (tx) => oneWithUsage(tx, ctx, await keyByRef(tx, ctx, input.id)));

/** A new key of this space: test keys in Test, standard or access keys in Live. The answer is the only place its text ever stands. */
export async function createApiKey(ctx: Ctx, input: z.output<typeof CreateApiKey>) {
  const access = input.key_type === 'access_key';
  if (access && ctx.sandbox) throw invalid('key_type', 'access keys are only available in Live');
  if (access) requireFeature(ctx, 'access_key');
  if (!access && input.scopes) throw invalid('scopes', 'only access keys have scopes');
  const role_ids = input.role_ids ? await coveredRoles(ctx, input.role_ids) : await inheritedRoles(ctx);
  const scopes = input.scopes ? await coveredScopes(ctx, input.scopes) : null;
  await coveredGrants(ctx, role_ids, scopes);
  let notify = () => {};
  const made = await mutate(ctx, async (tx) => {
    if (access) await confirmChange(tx, ctx, env.PUBLIC_ADMIN_URL, 'api_key.create');
    await confirmGrant(tx, ctx, env.PUBLIC_ADMIN_URL, { before: [], after: capabilitiesOfKey(grantsOf(role_ids, scopes)) });
    await withinPlan(tx, ctx, 'api_keys');
    // What is not said is the calling key's own, where there is one.
    const bounds = await callersBounds(tx, ctx);
    const asked = expiry(ctx, input);
    const settings = {
      expires_at: asked === undefined ? (bounds?.expires_at ?? null) : asked,
      ip_allowlist: input.ip_allowlist ? addressList(ctx, input.ip_allowlist) : (bounds?.ip_allowlist ?? []),
      ...limits(input, input.rate_limit_requests === undefined ? bounds : null),
    };
    withinBounds(bounds, settings);
    const created = await insertKey(tx, ctx, { name: input.name, access, role_ids, scopes, ...settings });
    notify = await notifyKeyCreated(tx, ctx, created);
    return audited(created, {
      action: 'create',
      resource_type: 'api_key',
      resource_id: created.id,
      name: created.name,
      details: { key_id: created.key_id, key_type: created.key_type, role_ids },
    });
  });
  notify();
  return made;
}

/** Whether the change lets the key do something it could not do before. */
function gains(before: Grants, after: Grants): boolean {
  const held = capabilitiesOfKey(before);
  return [...capabilitiesOfKey(after)].some((capability) => !held.has(capability));
}
type Grants = Parameters<typeof capabilitiesOfKey>[0];

/**
 * A caller changes keys up to its own grants (interface rule 24 §2): of a stronger key it may neither lift the address list nor move the end.
 * @throws Refusal privilege_escalation, conflict for a key that has ended
 */
export async function updateApiKey(ctx: Ctx, { id, ...input }: z.output<typeof UpdateApiKey>) {
  const role_ids = input.role_ids && (await coveredRoles(ctx, input.role_ids));
  const scopes = input.scopes && (await coveredScopes(ctx, input.scopes));
  return mutate(ctx, async (tx) => {
    const before = await lockedKey(tx, ctx, id);
    if (hasEnded(before, ctx.now)) throw new Refusal('conflict', 'This key is revoked or expired.');
    await coveredGrants(ctx, before.role_ids, before.scoped ? before.scopes : null);
    const access = before.key_type === 'access_key';
    if (!access && scopes) throw invalid('scopes', 'only access keys have scopes');
    const expires_at = expiry(ctx, input);
    const data = {
      ...(input.name === undefined ? {} : { name: input.name }),
      ...(input.rate_limit_requests === undefined && input.rate_limit_window_sec === undefined ? {} : limits(input, before)),
      ...(input.ip_allowlist === undefined ? {} : { ip_allowlist: addressList(ctx, input.ip_allowlist) }),
      ...(role_ids === undefined ? {} : { role_ids }),
      ...(scopes === undefined ? {} : { scopes, scoped: true }),
      ...(expires_at === undefined ? {} : { expires_at }),
    };
    const granted = { ...before, ...data };
    // Without new grants only the bounds that change count. With new ones the key would use them within its own bounds, so all of those count.
    withinBounds(await callersBounds(tx, ctx), gains(before, granted) ? granted : data);
    await coveredGrants(ctx, granted.role_ids, granted.scoped ? granted.scopes : null);
    await confirmGrant(tx, ctx, env.PUBLIC_ADMIN_URL, { before: capabilitiesOfKey(before), after: capabilitiesOfKey(granted) });
    await confirmLoosening(tx, ctx, env.PUBLIC_ADMIN_URL, loosened(before, data, KEY_PROTECTIONS));
    const moved = 'expires_at' in data ? { expiry_told: null } : {};
    const after = await tx.api_keys.update({ where: { id: before.id, ...own(ctx) }, data: { ...data, ...moved, updated_at: ctx.now } });
    return audited(await oneWithUsage(tx, ctx, after), {
      action: 'update',
      resource_type: 'api_key',
      resource_id: after.id,
      name: after.name,
      changes: changesOf(before, after, Object.keys(data)),
      details: { key_id: after.key_id },
    });
  });
}
