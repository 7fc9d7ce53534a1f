import type { z } from 'zod';
import { namesOf } from '#server/domain/authorities/acting.shared.ts';
import { actingFor, passOn } from '#server/domain/authorities/service.ts';
import { requireFeature, withinPlan } from '#server/domain/plans/service.ts';
import { bindSuccessor, forgetRules } from '#server/domain/policies/service.ts';
import { capabilitiesOfKey } from '#server/kernel/capabilities.ts';
import { confirmGrant, confirmLoosening } from '#server/kernel/confirmations.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { loosened } from '#server/kernel/loosening.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { env } from '#server/platform/env.ts';
import { callersBounds, withinBounds } from './bounds.ts';
import { coveredGrants } from './grants.ts';
import { insertKey } from './minting.ts';
import { notifyKeyCreated } from './notices.ts';
import { doer, stopped } from './revocation.ts';
import type { RotateApiKey } from './schema.ts';
import { expiry, KEY_PROTECTIONS } from './settings.ts';
import { hasEnded, lockedKey } from './store.ts';

/**
 * A new key with the old one's grants, and its expiry unless another is asked for; the old one works on until it is revoked or its time comes (interface rule 00, API key lifecycle). With
 * revoke_old_after_sec 0 the old one makes room for the new one: at the plan's limit a leaked key can still be replaced. Policies that name the old one name
 * the new one too, and what calls routes in its name goes on in that of the new
 * one, unless the old one ends at once.
 */
export async function rotateApiKey(ctx: Ctx, input: z.output<typeof RotateApiKey>) {
  let notify = () => {};
  const made = await mutate(ctx, async (tx) => {
    const current = await lockedKey(tx, ctx, input.id);
    if (hasEnded(current, ctx.now)) throw new Refusal('conflict', 'This key is already revoked or expired.');
    if (current.key_type === 'access_key') requireFeature(ctx, 'access_key');
    await coveredGrants(ctx, current.role_ids, current.scoped ? current.scopes : null);
    // Whoever rotates a key holds its text afterwards.
    await confirmGrant(tx, ctx, env.PUBLIC_ADMIN_URL, { before: [], after: capabilitiesOfKey(current) });
    const asked = expiry(ctx, input);
    const expires_at = asked === undefined ? current.expires_at : asked;
    withinBounds(await callersBounds(tx, ctx), { ...current, expires_at });
    await confirmLoosening(tx, ctx, env.PUBLIC_ADMIN_URL, loosened(current, { expires_at }, KEY_PROTECTIONS));
    if (input.revoke_old_after_sec === 0)
      await tx.api_keys.update({
        where: { id: current.id, ...own(ctx) },
        data: { active: false, revoke_at: ctx.now, revoked_at: ctx.now, revoked_by: doer(ctx), updated_at: ctx.now },
      });
    await withinPlan(tx, ctx, 'api_keys');
    const created = await insertKey(tx, ctx, {
      name: current.name,
      access: current.key_type === 'access_key',
      role_ids: current.role_ids,
      scopes: current.scoped ? current.scopes : null,
      expires_at,
      ip_allowlist: current.ip_allowlist,
      rate_limit_requests: current.rate_limit_requests,
      rate_limit_window_sec: current.rate_limit_window_sec,
      replaces_key_id: current.key_id,
    });
    if (input.revoke_old_after_sec)
      await tx.api_keys.update({
        where: { id: current.id, ...own(ctx) },
        data: {
          revoke_at: earlier(current.revoke_at, new Date(ctx.now.getTime() + input.revoke_old_after_sec * 1000)),
          updated_at: ctx.now,
        },
      });
    const bound = await bindSuccessor(tx, ctx, { from: current.id, to: created.id, key_ids: [current.key_id, created.key_id] });
    const acting = await actingFor(tx, ctx, current);
    // A key that is replaced at once may have leaked: what a thief set up in its name must not go on.
    const ends = input.revoke_old_after_sec === 0;
    if (acting.length > 0) ctx.warnings.push(ends ? stopped(acting) : takenOver(namesOf(acting)));
    const passed = ends ? [] : await passOn(tx, ctx, { from: current.id, to: created.id });
    notify = await notifyKeyCreated(tx, ctx, created);
    return audited(
      { ...created, replaces_key_id: current.key_id },
      {
        action: 'rotate',
        resource_type: 'api_key',
        resource_id: created.id,
        name: created.name,
        details: { key_id: created.key_id, replaces_key_id: current.key_id, revoke_old_after_sec: input.revoke_old_after_sec },
      },
      [...bound, ...passed],
    );
  });
  forgetRules(ctx.tenant_id);
  notify();
  return made;
}

const takenOver = (names: string): string =>
  `The new key takes over what calls routes in the old key's name: ${names}. If the old key leaked, check what they do.`;

const earlier = (a: Date | null, b: Date): Date => (a !== null && a < b ? a : b);
