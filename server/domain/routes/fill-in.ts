import { policyDenied, policyEscapedByHeirs } from '#server/domain/policies/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { type Draft, settingsOf } from './config/draft.ts';
import type { EffectiveConfig } from './effective.ts';

type FillIn = EffectiveConfig['body_placeholders'];
const WIDER: readonly FillIn[] = ['off', 'same_collection', 'all'];

/**
 * Where a route fills in placeholders, its callers say which secrets it sends. Who lets it, or says where such a route sends what its callers name, must be able
 * to use secrets, and no policy may deny them one that callers without that policy could name. `moved`: variables of the target, and what is of its collection,
 * are others now. @throws Refusal forbidden, role_denied
 */
export async function assertMayFill(ctx: Ctx, before: Draft | null, after: Draft, moved: boolean): Promise<void> {
  const asks = [...after.locals.keys()].some((environment) => {
    const is = settingsOf(after, environment);
    if (is.body_placeholders === 'off') return false;
    if (!before || moved) return true;
    const was = settingsOf(before, environment);
    return was.target_base_url !== is.target_base_url || WIDER.indexOf(was.body_placeholders) < WIDER.indexOf(is.body_placeholders);
  });
  if (asks) await assertFills(ctx);
}

/** As above, of an environment that is known to fill in. @throws Refusal forbidden, role_denied */
export async function assertFills(ctx: Ctx): Promise<void> {
  if (!holdsSecrets(ctx))
    throw new Refusal(
      ctx.actor.type === 'member' ? 'role_denied' : 'forbidden',
      `Letting callers of a route name secrets in their bodies (body_placeholders), or changing where such a route sends them, takes the capability secret:read. Use a credential with the scope secrets:read, or ${LEFT_OUT}`,
    );
  const policy = await policyEscapedByHeirs(ctx, 'secret:read');
  if (policy) throw policyDenied(ctx, policy, 'secret:read', `Callers of this route could name what it denies you. To go on, ${LEFT_OUT}`);
}

/** The next step of somebody who may not: files say what the API would decide for a route that leaves the setting open. */
const LEFT_OUT = 'set body_placeholders to off (write body_placeholders: off at the route in a configuration file).';

/** A new draft of somebody who may not let it fill in placeholders, where they don't ask for it: switched off, which a warning says. */
export async function withFillInAllowed(ctx: Ctx, draft: Draft): Promise<Draft> {
  const fills = [...draft.locals.keys()].some((environment) => settingsOf(draft, environment).body_placeholders !== 'off');
  if (!fills || (holdsSecrets(ctx) && !(await policyEscapedByHeirs(ctx, 'secret:read')))) return draft;
  ctx.warnings.push(
    'body_placeholders is off: placeholders in bodies of callers are not filled in, because this caller may not use secrets. Whoever has the scope secrets:read can turn it on.',
  );
  const locals = [...draft.locals].map(([name, local]) => {
    const says = name === draft.base || 'body_placeholders' in local;
    return [name, says ? { ...local, body_placeholders: 'off' as const } : local] as const;
  });
  return { base: draft.base, locals: new Map(locals) };
}

const holdsSecrets = ({ actor }: Ctx): boolean => actor.capabilities.has('secret:read');
