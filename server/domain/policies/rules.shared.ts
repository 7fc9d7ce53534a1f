import type { Capability } from '#server/domain/roles/matrix.shared.ts';
import type { PolicyCaller, PolicyCallers } from '#server/kernel/policy-callers.ts';

/** Whom a rule binds: any of these, or everybody. `roles` holds member roles and IDs of key roles. */
export type PolicySubjects = {
  all?: boolean;
  roles?: readonly string[];
  user_ids?: readonly string[];
  api_key_ids?: readonly string[];
  oauth_client_ids?: readonly string[];
};

/** A deny rule of a workspace (interface rule 24 §6). */
export type Rule = {
  id: string;
  name: string;
  actions: readonly string[];
  subjects: PolicySubjects;
  /** IDs or name globs; empty: all resources. */
  resources: readonly string[];
  space: string;
};

/** The resource that a call is about. A rule names it by ID or by one of its names. */
export type PolicyResource = { id?: string | undefined; names: readonly string[] };

/** Rules by the action they name, so that a check reads only those of its own capability. */
export type RuleIndex = ReadonlyMap<string, readonly Rule[]>;

export function indexRules(rules: readonly Rule[]): RuleIndex {
  const index = new Map<string, Rule[]>();
  for (const rule of rules) for (const action of new Set(rule.actions)) index.set(action, [...(index.get(action) ?? []), rule]);
  return index;
}

const NONE: readonly Rule[] = [];

/** The rules that name a capability, by itself or as `resource:*`, and bind one of these callers in this space. */
export function bindingRules(index: RuleIndex, capability: Capability, callers: PolicyCallers, space: 'live' | 'test'): readonly Rule[] {
  if (index.size === 0) return NONE;
  const exact = index.get(capability);
  const family = index.get(`${capability.slice(0, capability.indexOf(':'))}:*`);
  if (!exact && !family) return NONE;
  return [...(exact ?? NONE), ...(family ?? NONE)].filter(
    (rule) => (rule.space === 'both' || rule.space === space) && binds(rule.subjects, callers),
  );
}

/** Whether a rule with these subjects binds a call that is made for these callers: it does when it binds one of them. */
export const binds = (subjects: PolicySubjects, callers: PolicyCallers): boolean => callers.some((caller) => bindsOne(subjects, caller));

function bindsOne(subjects: PolicySubjects, caller: PolicyCaller): boolean {
  const { roles, user_ids, api_key_ids, oauth_client_ids } = subjects;
  return Boolean(
    subjects.all ||
      (caller.role && roles?.includes(caller.role)) ||
      (roles && caller.key_role_ids?.some((id) => roles.includes(id))) ||
      (caller.user_id && user_ids?.includes(caller.user_id)) ||
      (caller.api_key_id && api_key_ids?.includes(caller.api_key_id)) ||
      (caller.oauth_client_id && oauth_client_ids?.includes(caller.oauth_client_id)),
  );
}

/** Whether a rule covers a resource. */
export const coversResource = ({ resources }: Pick<Rule, 'resources'>, { id, names }: PolicyResource): boolean =>
  resources.length === 0 ||
  resources.some(
    (pattern) => (id !== undefined && pattern.toLowerCase() === id.toLowerCase()) || names.some((name) => globMatches(pattern, name)),
  );

/**
 * Whether a name matches a glob: `*` is any text, `?` any one character, letters match in either case. Takes at most pattern times name steps, so that
 * no pattern makes a check slow.
 */
export function globMatches(pattern: string, name: string): boolean {
  const [p, n] = [pattern.toLowerCase(), name.toLowerCase()];
  let [at, star, mark] = [0, -1, 0];
  for (let i = 0; i < n.length; ) {
    if (at < p.length && p[at] === '*') {
      star = at++;
      mark = i;
    } else if (at < p.length && (p[at] === '?' || p[at] === n[i])) {
      at++;
      i++;
    } else if (star >= 0) {
      at = star + 1;
      i = ++mark;
    } else return false;
  }
  while (p[at] === '*') at++;
  return at === p.length;
}
