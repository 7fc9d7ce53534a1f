import { confirmGrant, confirmLoosening } from '#server/kernel/confirmations.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { Grant } from '#server/kernel/guarded-capabilities.ts';
import { drops } from '#server/kernel/loosening.ts';
import { env } from '#server/platform/env.ts';
import type { Targets } from '../config/targets.ts';
import { assertMayUse, materialOf } from './material.ts';
import { FIELD_ACTIONS, type FieldActionName } from './rules.shared.ts';
import type { FieldActionSettings } from './schema.ts';

/**
 * Asks a person to confirm what a change of a route's field actions lets callers see: values that it decrypts or detokenizes from now on, and values that it
 * no longer encrypts, tokenizes or masks. @throws Refusal mfa_required, step_up_required
 */
export async function confirmActions(
  tx: Tx,
  ctx: Ctx,
  before: readonly FieldActionSettings[],
  after: readonly FieldActionSettings[],
): Promise<void> {
  await confirmGrant(tx, ctx, env.PUBLIC_ADMIN_URL, { before: before.flatMap(grantsOf), after: after.flatMap(grantsOf) });
  const unprotected = drops(before.flatMap(protectionsOf), after.flatMap(protectionsOf));
  await confirmLoosening(tx, ctx, env.PUBLIC_ADMIN_URL, unprotected ? ['field_actions'] : []);
}

/**
 * Values that a route decrypts or detokenizes go somewhere else: that takes the right to have routes use its keys and vaults, and a person confirms it.
 * @throws Refusal role_denied, forbidden, mfa_required, step_up_required
 */
export async function confirmTargets(tx: Tx, ctx: Ctx, route_id: string, before: Targets, after: Targets) {
  const [was, is] = [[...before.values()].map(originOf), [...after.values()].map(originOf)];
  if (is.every((origin) => was.includes(origin))) return;
  const rows = await tx.route_field_actions.findMany({
    where: {
      ...own(ctx),
      route_id,
      enabled: true,
      direction: 'request',
      action: { in: ['decrypt', 'detokenize'] satisfies FieldActionName[] },
    },
    select: { action: true, key_name: true },
  });
  for (const row of rows) {
    const used = { action: row.action as FieldActionName, key_name: row.key_name }; // checked by the table
    // What is gone can't be used, but may come back under its name.
    await assertMayUse(ctx, used.action, await materialOf(tx, ctx, used).catch(() => null));
  }
  const to = (origins: string[]) =>
    rows.flatMap(({ action }) => origins.map((origin): Grant => `${FIELD_ACTIONS[action as 'decrypt'].capability} on ${origin}`));
  await confirmGrant(tx, ctx, env.PUBLIC_ADMIN_URL, { before: to(was), after: to(is) });
}

/** A target with a variable that isn't there counts as written. */
const originOf = (target: string): string => URL.parse(target)?.origin ?? target;

/** What an action makes readable, place by place: for other fields, or with another key, it is another grant. */
function grantsOf({ action, enabled, direction, location, key_name, selectors }: FieldActionSettings): Grant[] {
  const { capability, effect } = FIELD_ACTIONS[action];
  if (!enabled || effect !== 'reveals') return [];
  return selectors.map((selector): Grant => `${capability} on ${key_name} ${direction} ${location} ${selector}`);
}

/** What an action hides, place by place, and how well. */
function protectionsOf({ action, enabled, mode, mask, direction, location, selectors }: FieldActionSettings): string[] {
  if (!enabled || FIELD_ACTIONS[action].effect !== 'protects') return [];
  const degrees = ['hidden', ...(mode === 'strict' ? ['strictly'] : []), ...(mask === 'last4' || mask === 'email' ? [] : ['whole'])];
  return selectors.flatMap((selector) => degrees.map((degree) => `${degree} ${direction} ${location} ${selector}`));
}
