import type { Capability } from '#server/kernel/capabilities.ts';
import { type Actor, type HotCtx, spaceOf } from '#server/kernel/context.ts';
import { capabilitiesOf } from '#server/kernel/needs.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import type { PolicyCaller, PolicyCallers } from '#server/kernel/policy-callers.ts';
import { listedResource, NARROWABLE, resourceOf, type Target, targetOf } from './narrowing.shared.ts';
import { namesOf, resourcesNamed, rulesOf } from './rule-cache.ts';
import { bindingRules, coversResource, type PolicyResource, type Rule } from './rules.shared.ts';

/**
 * The tenant policy that denies a capability to this caller here, or null (interface rule 24 §6, §7). Deny always wins. Without a resource only rules
 * over all resources count: a rule narrowed to some is asked about each of them.
 * @throws Refusal dependency_unavailable when the policies can't be read
 */
export async function denyingPolicy(ctx: HotCtx, capability: Capability, resource?: { id?: string; name?: string }): Promise<Rule | null> {
  const rules = await rulesFor(ctx, capability);
  const whole = rules.find(isWhole);
  if (whole || !resource || rules.length === 0) return whole ?? null;
  const names = resource.name === undefined ? [] : [resource.name];
  const stored = resource.id === undefined ? [] : await resourcesNamed(ctx, resourceOf(capability), [resource.id]);
  return firstCovering(rules, [{ id: resource.id, names }, ...stored]);
}

/**
 * The policy that denies a capability for one call of an operation. A rule narrowed to some resources is compared with the object that the call is
 * about. A change that doesn't say which object it is about is denied by any such rule: it could be one of those.
 */
export async function policyDenyingCall(
  ctx: HotCtx,
  op: Pick<AnyOperation, 'http' | 'kind' | 'asks_policies'>,
  capability: Capability,
  input: () => Record<string, unknown>,
): Promise<Rule | null> {
  const rules = await rulesFor(ctx, capability);
  const whole = rules.find(isWhole);
  if (whole || rules.length === 0) return whole ?? null;
  const target = targetOf(op, capability, input());
  if (target === undefined) return null;
  if (target === 'unknown') return rules[0] ?? null;
  return firstCovering(rules, await resourcesOf(ctx, capability, target));
}

/** A narrowed or whole rule that holds this very caller back, and might not hold back a credential that the caller makes. */
export async function policyEscapedByHeirs(ctx: HotCtx, capability: Capability): Promise<Rule | null> {
  const rules = await rulesFor(ctx, capability);
  return rules.find((rule) => isWhole(rule) || !rule.subjects.all) ?? null;
}

/** What a list shows of its rows. */
export type ShownRows<Row> = { rows: readonly Row[]; namesOnly: boolean };

/**
 * The rows of a list without those whose listing or reading a policy denies this caller. Who may list and is denied reading altogether sees names only,
 * like a role that lacks it. Costs nothing while no such rule binds the caller.
 */
export async function rowsShown<Row>(
  ctx: HotCtx,
  op: Pick<AnyOperation, 'http' | 'kind' | 'needs'>,
  rows: readonly Row[],
): Promise<ShownRows<Row>> {
  const shown = { rows, namesOnly: false };
  const listed = capabilitiesOf(op.needs).find((capability) => listedResource(op, capability) !== undefined);
  if (listed === undefined) return shown;
  const resource = resourceOf(listed);
  for (const capability of new Set([listed, `${resource}:read` as Capability])) {
    const rules = await rulesFor(ctx, capability);
    // A whole rule against listing was refused before.
    if (capability !== listed && rules.some(isWhole)) shown.namesOnly = true;
    const narrowed = rules.filter((rule) => !isWhole(rule));
    if (narrowed.length > 0) shown.rows = await notCovered(ctx, resource, narrowed, shown.rows);
  }
  return shown;
}

/** Objects of several kinds, as search finds them, without those whose listing or reading a narrowed rule denies this caller. */
export async function documentsShown<Row extends { type: string; ref_id: string }>(ctx: HotCtx, rows: readonly Row[]): Promise<Row[]> {
  let shown = [...rows];
  for (const [resource, { document: type = resource }] of Object.entries(NARROWABLE)) {
    if (!rows.some((row) => row.type === type)) continue;
    const rules: Rule[] = [];
    for (const verb of ['list', 'read'])
      rules.push(...(await rulesFor(ctx, `${resource}:${verb}` as Capability)).filter((rule) => !isWhole(rule)));
    if (rules.length === 0) continue;
    const left = await notCovered(
      ctx,
      resource,
      rules,
      shown.filter((row) => row.type === type).map(({ ref_id }) => ({ id: ref_id })),
    );
    const ids = new Set(left.map(({ id }) => id));
    shown = shown.filter((row) => row.type !== type || ids.has(row.ref_id));
  }
  return shown;
}

async function notCovered<Row>(ctx: HotCtx, resource: string, rules: readonly Rule[], rows: readonly Row[]): Promise<readonly Row[]> {
  const field = `${NARROWABLE[resource]?.table.slice(0, -1)}_id`;
  const idOf = (row: Row) => String((row as Record<string, unknown>)[field] ?? (row as { id?: unknown }).id ?? '');
  const names = await namesOf(ctx, resource, rows.map(idOf));
  return rows.filter((row) => firstCovering(rules, [{ id: idOf(row), names: names.get(idOf(row)) ?? [] }]) === null);
}

const rulesFor = async (ctx: HotCtx, capability: Capability): Promise<readonly Rule[]> =>
  bindingRules(await rulesOf(ctx.tenant_id), capability, callersOf(ctx.actor), spaceOf(ctx.sandbox));

const isWhole = ({ resources }: Rule): boolean => resources.length === 0;

const firstCovering = (rules: readonly Rule[], resources: readonly PolicyResource[]): Rule | null =>
  rules.find((rule) => resources.some((resource) => coversResource(rule, resource))) ?? null;

/** The objects a call names, and what a new one would be called. */
async function resourcesOf(ctx: HotCtx, capability: Capability, { refs, names }: Target): Promise<PolicyResource[]> {
  const stored = NARROWABLE[resourceOf(capability)] ? await resourcesNamed(ctx, resourceOf(capability), refs) : [];
  return names.length > 0 ? [...stored, { names }] : stored;
}

/** An actor as tenant policies see it. Tokens that work for another credential are bound by what binds it, and calls for several by what binds one of them. */
export const callersOf = (actor: Actor): PolicyCallers => actor.acts_for ?? [callerOf(actor)];

function callerOf(actor: Actor): PolicyCaller {
  switch (actor.type) {
    case 'member':
      return { role: actor.role, user_id: actor.id };
    case 'api_key':
      return { api_key_id: actor.id, key_role_ids: actor.role_ids };
    case 'oauth_token':
      return {
        oauth_client_id: actor.id,
        user_id: actor.user_id,
        ...(actor.person ? { role: actor.person.role } : {}),
        ...(actor.source_key ? { api_key_id: actor.source_key.id, key_role_ids: actor.source_key.role_ids } : {}),
      };
    case 'client_token':
    case 'capability_token':
    case 'acme_account': {
      const { type, id } = actor.minted_by;
      return type === 'user'
        ? { user_id: id }
        : type === 'api_key'
          ? { api_key_id: id }
          : type === 'oauth_client'
            ? { oauth_client_id: id }
            : {};
    }
    default:
      return {};
  }
}
