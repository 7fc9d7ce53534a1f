import { policyEscapedByHeirs } from '#server/domain/policies/service.ts';
import {
  type Capability,
  KEY_ROLES,
  keyCapabilities,
  LITERAL_ONLY,
  type MemberRole,
  ROLE_MATRIX,
  scopeCapabilities,
} from '#server/kernel/capabilities.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { isPersonsToken } from '#server/kernel/step-up.ts';

/** What Owners and Admins may hand to a machine although they reach it only through reveals, or not at all (interface rule 24 §3). */
const handedOn = (role: MemberRole, capability: Capability): boolean =>
  ROLE_MATRIX.get(capability)?.[role] === 'B' ||
  ((role === 'owner' || role === 'admin') && (capability === 'secret:read_oauth_token' || capability === 'oauth:introspect'));

/**
 * What the caller may put on a key: everything it effectively holds. Never more than itself.
 * @throws Refusal privilege_escalation naming the first grant that is not covered; validation_error for an unknown role; forbidden for one not meant for keys
 */
export async function coveredRoles(ctx: Ctx, roleIds: readonly string[]): Promise<string[]> {
  const unique = [...new Set(roleIds)];
  for (const id of unique) {
    const role = KEY_ROLES.find((r) => r.id === id);
    if (!role) throw new Refusal('forbidden', `The role ${id} can't be assigned to an API key.`);
    for (const capability of [...role.capabilities].sort()) if (!(await covers(ctx, capability))) throw escalation(ctx, capability);
  }
  return unique;
}

/** The scopes once each, in order, for a key or another credential. @throws Refusal privilege_escalation for one that the caller does not hold */
export async function coveredScopes(ctx: Ctx, scopes: readonly string[], noun = 'key'): Promise<string[]> {
  const unique = [...new Set(scopes)].sort();
  for (const scope of unique) {
    for (const capability of [...scopeCapabilities([scope])].sort())
      if (!(await covers(ctx, capability))) throw escalation(ctx, capability, scope, noun);
  }
  return unique;
}

/**
 * What a key of these roles, narrowed to these scopes, would hold is what the caller holds. A caller that is narrowed itself, or held back by a
 * policy, has roles that are wider than it: inheriting them or rotating such a key must not widen anything.
 * @throws Refusal privilege_escalation
 */
export async function coveredGrants(ctx: Ctx, roleIds: readonly string[], scopes: readonly string[] | null): Promise<void> {
  const narrowed = scopes && scopeCapabilities(scopes);
  for (const capability of [...keyCapabilities(roleIds)].sort())
    if ((!narrowed || narrowed.has(capability)) && !(await covers(ctx, capability))) throw escalation(ctx, capability);
}

/** What a key of these roles, narrowed to these scopes, is made with. */
export const grantsOf = (role_ids: readonly string[], scopes: readonly string[] | null) => ({
  role_ids,
  scoped: scopes !== null,
  scopes: scopes ?? [],
});

/**
 * Without role_ids a key inherits (interface rule 20 §1.6): from a key its roles, from a client or workload every seeded role that it covers, from a
 * person the widest seeded role below their own.
 */
export async function inheritedRoles(ctx: Ctx): Promise<string[]> {
  const { actor } = ctx;
  if (actor.type === 'api_key') return [...actor.role_ids];
  if (actor.type === 'oauth_token' && actor.user_id === null) return everyCoveredRole(ctx);
  const editor = KEY_ROLES.find((r) => r.is_default);
  const candidates = [
    editor,
    ...KEY_ROLES.filter((r) => r !== editor && r.capabilities.size < (editor?.capabilities.size ?? 0)).sort(
      (a, b) => b.capabilities.size - a.capabilities.size,
    ),
  ];
  for (const role of candidates) if (role && (await coversAll(ctx, role.capabilities))) return [role.id];
  return [];
}

async function everyCoveredRole(ctx: Ctx): Promise<string[]> {
  const ids: string[] = [];
  for (const role of KEY_ROLES) if (await coversAll(ctx, role.capabilities)) ids.push(role.id);
  return ids;
}

async function coversAll(ctx: Ctx, capabilities: Iterable<Capability>): Promise<boolean> {
  for (const c of capabilities) if (!(await covers(ctx, c))) return false;
  return true;
}

async function covers(ctx: Ctx, capability: Capability): Promise<boolean> {
  const { actor } = ctx;
  if (actor.type === 'operator' || actor.type === 'system') return true;
  // No key role carries a wildcard, so a literal grant is always what is compared.
  const held =
    actor.capabilities.has(capability) ||
    (actor.type === 'member' && handedOn(actor.role, capability)) ||
    // People see the same access tokens by revealing them.
    (actor.type === 'member' && capability === 'secret:read_oauth_token' && actor.capabilities.has('secret:reveal'));
  return held && !(await policyEscapedByHeirs(ctx, capability));
}

/** Names the grant as it was asked for, the capability behind it, and who could make it. */
const escalation = ({ actor }: Ctx, capability: Capability, scope?: string, noun = 'key') =>
  new Refusal(
    'privilege_escalation',
    `The ${noun} would have ${scope === undefined ? '' : `the scope ${scope} with `}the capability ${capability}, which the caller doesn't have.${LITERAL_ONLY.has(capability) ? ' It must be granted explicitly.' : ''} ${nextStep(actor)}`,
  );

function nextStep(actor: Ctx['actor']): string {
  if (actor.type === 'member') return 'Choose a narrower role or scopes, or ask an Owner or Admin.';
  return isPersonsToken(actor) ? 'Choose narrower scopes, or use the dashboard.' : 'Choose a narrower role or scopes.';
}
