import { binds, coversResource, type PolicySubjects, type Rule } from '#server/domain/policies/rules.shared.ts';
import type { PolicyCallers } from '#server/kernel/policy-callers.ts';
import type { Route, Secret } from './model.ts';
import { defineSlice } from './slice.ts';

type PolicyRow = { id: string; name: string; actions: string[]; subjects: PolicySubjects; resources: string[] };
type Named = { readonly id: string };

/** Rules that bind a call for these callers: over all resources, and over some with the verdicts found so far, which keep no secret of an older snapshot. */
type Bound<Resource extends WeakKey> = { whole: Rule | null; narrowed: readonly Rule[]; verdicts: WeakMap<Resource, Rule | null> };

/** Tenant policies that deny, in this space, calling routes, using secrets and minting tokens of AI gateways (interface rule 24 §6). */
export const policies = defineSlice({
  name: 'policies',
  tables: [],
  workspaceTables: ['tenant_policies'],
  queries: {
    policy_rules: `select p.tenant_id, s.sandbox, p.id, p.name, p.actions, p.subjects, p.resources
      from tenant_policies p, unnest($2::boolean[]) as s (sandbox)
      where p.tenant_id = any($1) and p.enabled and p.actions && array['proxy:invoke', 'proxy:*', 'secret:read', 'secret:*', 'ai_gateway:mint', 'ai_gateway:*']
        and p.space in ('both', case when s.sandbox then 'test' else 'live' end)
      order by p.name`,
  },
  compile({ policy_rules: rows }: { policy_rules: PolicyRow[] }) {
    const rules = rows.map((row): Rule => ({ ...row, space: 'both' }));
    const naming = (...actions: string[]) => rules.filter((rule) => rule.actions.some((action) => actions.includes(action)));
    const minting = verdictsOf<Named>(naming('ai_gateway:mint', 'ai_gateway:*'), () => []);
    return {
      /** The policy that denies a call for these callers to a route; null when none does. */
      policyDenying: verdictsOf<Route>(naming('proxy:invoke', 'proxy:*'), ({ name, slug }) => (slug === null ? [name] : [name, slug])),
      /** The policy that denies one of them the use of a secret; null when none does. */
      policyHiding: verdictsOf<Secret>(naming('secret:read', 'secret:*'), ({ title, name }) => [title, name]),
      /** The policy that denies one of them the minting of tokens of AI gateways as a whole; null when none does. */
      policyAgainstMinting: (callers: PolicyCallers) => minting(callers, null),
    };
  },
  size: (rows) => rows.policy_rules.length,
});

/** Asks rules about callers and a resource; each pair is looked at once. */
function verdictsOf<Resource extends Named>(rules: readonly Rule[], namesOf: (resource: Resource) => readonly string[]) {
  const known = new WeakMap<PolicyCallers, Bound<Resource>>();
  const remember = (callers: PolicyCallers): Bound<Resource> => {
    const bound = boundBy<Resource>(rules, callers);
    known.set(callers, bound);
    return bound;
  };
  return (callers: PolicyCallers, resource: Resource | null): Rule | null => {
    if (rules.length === 0) return null;
    const bound = known.get(callers) ?? remember(callers);
    if (bound.whole || bound.narrowed.length === 0 || !resource) return bound.whole;
    const found = bound.verdicts.get(resource);
    if (found !== undefined) return found;
    const verdict = bound.narrowed.find((rule) => coversResource(rule, { id: resource.id, names: namesOf(resource) })) ?? null;
    bound.verdicts.set(resource, verdict);
    return verdict;
  };
}

function boundBy<Resource extends Named>(rules: readonly Rule[], callers: PolicyCallers): Bound<Resource> {
  const binding = rules.filter(({ subjects }) => binds(subjects, callers));
  return {
    whole: binding.find(({ resources }) => resources.length === 0) ?? null,
    narrowed: binding.filter(({ resources }) => resources.length > 0),
    verdicts: new WeakMap(),
  };
}
