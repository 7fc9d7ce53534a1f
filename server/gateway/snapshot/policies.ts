import { binds, coversResource, type PolicyCaller, type PolicySubjects, type Rule } from '#server/domain/policies/rules.shared.ts';
import type { Caller, Route, Secret } from './model.ts';
import { defineSlice } from './slice.ts';

type PolicyRow = { id: string; name: string; actions: string[]; subjects: PolicySubjects; resources: string[] };
type Named = { readonly id: string };

/** Rules that bind one caller: over all resources, and over some with the verdicts found so far, which keep no secret of an older snapshot. */
type Bound<Resource extends WeakKey> = { whole: Rule | null; narrowed: readonly Rule[]; verdicts: WeakMap<Resource, Rule | null> };

/** Tenant policies that deny, in this space, calling routes and using secrets (interface rule 24 §6). */
export const policies = defineSlice({
  name: 'policies',
  tables: [],
  workspaceTables: ['tenant_policies'],
  queries: {
    policy_rules: `select p.tenant_id, s.sandbox, p.id, p.name, p.actions, p.subjects, p.resources
      from tenant_policies p, unnest($2::boolean[]) as s (sandbox)
      where p.tenant_id = any($1) and p.enabled and p.actions && array['proxy:invoke', 'proxy:*', 'secret:read', 'secret:*']
        and p.space in ('both', case when s.sandbox then 'test' else 'live' end)
      order by p.name`,
  },
  compile({ policy_rules: rows }: { policy_rules: PolicyRow[] }) {
    const rules = rows.map((row): Rule => ({ ...row, space: 'both' }));
    const naming = (...actions: string[]) => rules.filter((rule) => rule.actions.some((action) => actions.includes(action)));
    return {
      /** The policy that denies a call, of a key or token or of a client without one, to a route; null when none does. */
      policyDenying: verdictsOf<Route>(naming('proxy:invoke', 'proxy:*'), ({ name, slug }) => (slug === null ? [name] : [name, slug])),
      /** The policy that denies such a caller the use of a secret; null when none does. */
      policyHiding: verdictsOf<Secret>(naming('secret:read', 'secret:*'), ({ title, name }) => [title, name]),
    };
  },
  size: (rows) => rows.policy_rules.length,
});

/** Asks rules about a caller and a resource; each pair is looked at once. */
function verdictsOf<Resource extends Named>(rules: readonly Rule[], namesOf: (resource: Resource) => readonly string[]) {
  const byCaller = new WeakMap<Caller, Bound<Resource>>();
  const withoutCredential = boundBy<Resource>(rules, {});
  const remember = (caller: Caller): Bound<Resource> => {
    const bound = boundBy<Resource>(rules, caller.subject);
    byCaller.set(caller, bound);
    return bound;
  };
  return (caller: Caller | null, resource: Resource | null): Rule | null => {
    if (rules.length === 0) return null;
    const bound = caller ? (byCaller.get(caller) ?? remember(caller)) : withoutCredential;
    if (bound.whole || bound.narrowed.length === 0 || !resource) return bound.whole;
    const known = bound.verdicts.get(resource);
    if (known !== undefined) return known;
    const verdict = bound.narrowed.find((rule) => coversResource(rule, { id: resource.id, names: namesOf(resource) })) ?? null;
    bound.verdicts.set(resource, verdict);
    return verdict;
  };
}

function boundBy<Resource extends Named>(rules: readonly Rule[], subject: PolicyCaller): Bound<Resource> {
  const binding = rules.filter(({ subjects }) => binds(subjects, subject));
  return {
    whole: binding.find(({ resources }) => resources.length === 0) ?? null,
    narrowed: binding.filter(({ resources }) => resources.length > 0),
    verdicts: new WeakMap(),
  };
}
