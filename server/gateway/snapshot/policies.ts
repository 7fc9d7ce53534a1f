import { binds, coversResource, type PolicyCaller, type PolicySubjects, type Rule } from '#server/domain/policies/rules.shared.ts';
import type { Caller, Route } from './model.ts';
import { defineSlice } from './slice.ts';

type PolicyRow = { id: string; name: string; subjects: PolicySubjects; resources: string[] };

/** Rules that bind one caller: over all routes, and over some with the verdicts found so far. */
type Bound = { whole: Rule | null; narrowed: readonly Rule[]; verdicts: Map<Route, Rule | null> };

const NOTHING: Bound = { whole: null, narrowed: [], verdicts: new Map() };

/** Tenant policies that deny proxy:invoke in this space (interface rule 24 §6). */
export const policies = defineSlice({
  name: 'policies',
  tables: [],
  workspaceTables: ['tenant_policies'],
  queries: {
    policies: `select p.tenant_id, s.sandbox, p.id, p.name, p.subjects, p.resources
      from tenant_policies p, unnest($2::boolean[]) as s (sandbox)
      where p.tenant_id = any($1) and p.enabled and p.actions && array['proxy:invoke', 'proxy:*']
        and p.space in ('both', case when s.sandbox then 'test' else 'live' end)
      order by p.name`,
  },
  compile({ policies: rows }: { policies: PolicyRow[] }) {
    const rules = rows.map((row): Rule => ({ ...row, actions: ['proxy:invoke'], space: 'both' }));
    const byCaller = new WeakMap<Caller, Bound>();
    const withoutCredential = boundBy(rules, {});
    return {
      /** The policy that denies a call, of a key or token or of a client without one, to a route; null when none does. */
      policyDenying(caller: Caller | null, route: Route | null): Rule | null {
        if (rules.length === 0) return null;
        const bound = caller ? (byCaller.get(caller) ?? remember(caller)) : withoutCredential;
        if (bound.whole || bound.narrowed.length === 0 || !route) return bound.whole;
        const known = bound.verdicts.get(route);
        if (known !== undefined) return known;
        const verdict = bound.narrowed.find((rule) => coversResource(rule, { id: route.id, names: namesOf(route) })) ?? null;
        bound.verdicts.set(route, verdict);
        return verdict;
      },
    };

    function remember(caller: Caller): Bound {
      const bound = boundBy(rules, caller.subject);
      byCaller.set(caller, bound);
      return bound;
    }
  },
  size: (rows) => rows.policies.length,
});

function boundBy(rules: readonly Rule[], subject: PolicyCaller): Bound {
  const binding = rules.filter(({ subjects }) => binds(subjects, subject));
  if (binding.length === 0) return NOTHING;
  return {
    whole: binding.find(({ resources }) => resources.length === 0) ?? null,
    narrowed: binding.filter(({ resources }) => resources.length > 0),
    verdicts: new Map(),
  };
}

const namesOf = ({ name, slug }: Route): readonly string[] => (slug === null ? [name] : [name, slug]);
