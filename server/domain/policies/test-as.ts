import type { z } from 'zod';
import {
  type Capability,
  capabilitiesOfKey,
  coverage,
  type MemberRole,
  memberCapabilities,
  PERSON_FORBIDDEN,
  ROLE_MATRIX,
  rolesWith,
} from '#server/kernel/capabilities.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';
import type { Family } from '#server/kernel/family.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { capabilitiesOf, sufficientSets } from '#server/kernel/needs.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import type { PolicyCaller } from '#server/kernel/policy-callers.ts';
import { expandScopes } from '#server/kernel/scopes.ts';
import { ruleOf } from './management.ts';
import { isNarrowable, resourceOf, targetOf } from './narrowing.shared.ts';
import { resourcesNamed } from './rule-cache.ts';
import { bindingRules, coversResource, indexRules, type PolicyResource, type Rule } from './rules.shared.ts';
import type { PolicyTest, PreviewPolicy, TestPolicies } from './schema.ts';

type Input = z.output<typeof TestPolicies>;
type Check = z.input<typeof PolicyTest>['checks'][number];

/** Somebody to judge: what they hold, and what rules see of them. */
type Tested = { label: string; grants: ReadonlySet<Capability>; caller: PolicyCaller; role?: MemberRole; ofPerson: boolean };

/**
 * What would decide a call of somebody, by the rules that decide real calls: allowed, or denied and by which layer (interface rule 24 §7).
 * @throws Refusal validation_error for a caller, operation or resource that doesn't exist
 */
export async function testPolicies(ctx: Ctx, input: Input, families: readonly Family[]): Promise<z.input<typeof PolicyTest>> {
  const op = input.operation === undefined ? undefined : operationNamed(families, input.operation);
  const there: Ctx = { ...ctx, sandbox: input.space === 'test' };
  const tested = await testedCaller(there, input.caller);
  const rules = await rulesWith(ctx, input);
  const sets = op ? sufficientSets(op.needs) : [[input.capability as Capability]];
  let answer: z.input<typeof PolicyTest> | undefined;
  for (const set of sets) {
    const checks = await Promise.all(set.map((capability) => check(there, tested, capability, rules, input, op)));
    const failed = checks.find(({ layer }) => layer !== null);
    const verdict = { allowed: !failed, layer: failed?.layer ?? null, message: sentence(tested, failed, checks), checks };
    if (!failed) return verdict;
    answer ??= verdict;
  }
  return answer as z.input<typeof PolicyTest>;
}

async function check(
  there: Ctx,
  tested: Tested,
  capability: Capability,
  rules: readonly Rule[],
  { resource, space }: Input,
  op: AnyOperation | undefined,
): Promise<Check> {
  const cell = tested.role && ROLE_MATRIX.get(capability)?.[tested.role];
  const forbidden = tested.ofPerson && PERSON_FORBIDDEN.has(capability);
  const covered = forbidden ? 'missing' : coverage(tested.grants, capability);
  const held = cell === 'B' ? 'reveal' : covered !== 'covered' ? 'no' : cell === 'o' ? 'own' : 'yes';
  const base: Omit<Check, 'layer'> = { capability, held, roles: [...rolesWith(capability)], policy: null };
  if (forbidden) return { ...base, layer: 'person_forbidden' };
  if (held === 'no') return { ...base, layer: covered === 'literal_only' ? 'literal_only' : 'missing_capability' };
  const bound = bindingRules(indexRules(rules), capability, [tested.caller], space);
  const policy = bound.find(({ resources }) => resources.length === 0) ?? (await narrowedMatch(there, bound, capability, resource, op));
  return policy
    ? { ...base, layer: 'policy', policy: { id: isUuid(policy.id) ? policy.id : null, name: policy.name } }
    : { ...base, layer: null };
}

/** As a call would be judged that names the resource, or, for a change that names none, as one that could be about any. */
async function narrowedMatch(
  there: Ctx,
  bound: readonly Rule[],
  capability: Capability,
  resource: string | undefined,
  op: AnyOperation | undefined,
) {
  if (bound.length === 0) return undefined;
  if (resource === undefined) return op && targetOf(op, capability, {}) === 'unknown' && !op.http.includes('{') ? bound[0] : undefined;
  const about: PolicyResource[] = [{ id: resource, names: [resource] }];
  if (isNarrowable(capability)) about.push(...(await resourcesNamed(there, resourceOf(capability), [resource])));
  return bound.find((rule) => about.some((one) => coversResource(rule, one)));
}

/** The rules as saved, with the draft among them or in place of the one it changes. */
async function rulesWith(ctx: Ctx, { draft, draft_of }: Pick<Input, 'draft' | 'draft_of'>): Promise<Rule[]> {
  const rows = await read(ctx, (tx) =>
    tx.tenant_policies.findMany({ where: { tenant_id: ctx.tenant_id, enabled: true }, orderBy: { name: 'asc' } }),
  );
  const rules = rows.filter(({ id }) => id !== draft_of).map(ruleOf);
  return draft ? [draftRule(draft), ...rules] : rules;
}

export const draftRule = (draft: z.output<typeof PreviewPolicy>['draft']): Rule => ({
  ...draft,
  id: 'draft',
  resources: draft.resources ?? [],
});

async function testedCaller(
  there: Ctx,
  { user_id, role, api_key_id, scopes, person_role, oauth_client_id }: Input['caller'],
): Promise<Tested> {
  if (role !== undefined) return { ...person(role as MemberRole, false, null), label: `The role ${role}` };
  if (scopes !== undefined) {
    const grants = expandScopes(scopes);
    const caller = { oauth_client_id: oauth_client_id ?? null };
    if (person_role === undefined) return { label: 'The client', grants, caller, ofPerson: false };
    const held = memberCapabilities(person_role as MemberRole, { reveal_secrets: false });
    return {
      label: "The person's token",
      grants: new Set([...grants].filter((one) => held.has(one) || PERSON_FORBIDDEN.has(one))),
      caller,
      ofPerson: true,
    };
  }
  if (user_id !== undefined) {
    const member = await read(there, (tx) =>
      tx.memberships.findFirst({
        where: { tenant_id: there.tenant_id, user_id, removed_at: null },
        select: { role: true, reveal_secrets: true, user: { select: { full_name: true, email: true } } },
      }),
    );
    if (!member) throw invalid('caller.user_id', 'is not a member of this workspace');
    return { ...person(member.role as MemberRole, member.reveal_secrets, user_id), label: member.user.full_name || member.user.email };
  }
  const key = await read(there, (tx) => tx.api_keys.findFirst({ where: { ...own(there), id: api_key_id as string, active: true } }));
  if (!key) throw invalid('caller.api_key_id', `is not an active API key of ${there.sandbox ? 'Test' : 'Live'}`);
  return {
    label: key.name,
    grants: capabilitiesOfKey(key),
    caller: { api_key_id: key.id, key_role_ids: key.role_ids },
    ofPerson: false,
  };
}

const person = (role: MemberRole, reveal_secrets: boolean, user_id: string | null) => ({
  role,
  grants: memberCapabilities(role, { reveal_secrets }),
  caller: { role, user_id },
  ofPerson: false,
});

function operationNamed(families: readonly Family[], id: string): AnyOperation {
  const all = families.flatMap(({ operations }) => Object.values((operations ?? {}) as Record<string, AnyOperation>));
  const op = all.find((one) => one.id === id && capabilitiesOf(one.needs).length > 0);
  if (!op) throw invalid('operation', 'is not an operation that takes a capability');
  return op;
}

/** The verdict in words, with the next step. */
function sentence({ label, role }: Tested, failed: Check | undefined, checks: readonly Check[]): string {
  if (!failed) return `Allowed${checks.some(({ held }) => held === 'reveal') ? ' after a verification, as a reveal' : ''}.`;
  switch (failed.layer) {
    case 'policy':
      return `Denied by tenant policy ${failed.policy?.name}.`;
    case 'person_forbidden':
      return `Denied: a token of a person never carries ${failed.capability}. The same act is a reveal in the dashboard.`;
    case 'literal_only':
      return `Denied: a wildcard doesn't grant ${failed.capability}. Grant it by name.`;
    default: {
      const who = failed.roles.length > 0 ? ` Roles with it: ${failed.roles.join(', ')}.` : '';
      return `Denied: ${label} lacks the capability ${failed.capability}.${role === undefined && who !== '' ? '' : who}`;
    }
  }
}
