import { BUILT_IN_FIREWALL, type FirewallPolicy, type FirewallRules, firewallRules } from '#server/ai/firewall/policy.ts';
import { type PiiPolicy, type PiiRules, piiRules } from '#server/ai/pii/policy.ts';
import type { Recognizer } from '#server/ai/pii/recognizer.ts';
import { defineSlice, OF_SPACE } from './slice.ts';

/** What agents and MCP servers are judged by. Threads compile what they hold; all functions throw when a policy is missing. */
export type AiPolicies = {
  /** Null: no policy is attached. */
  readonly pii: (policyId: string | null) => PiiRules;
  readonly firewall: (policyId: string | null) => FirewallRules;
};

/** A call names a policy that isn't there: it's refused, never served without. */
export class PolicyMissing extends Error {}

type Rows = { ai_pii_policies: PiiPolicy[]; ai_pii_recognizers: Recognizer[]; ai_firewall_policies: FirewallPolicy[] };

/** Firewall and PII policies of the AI planes (interface rule 50 §7, §8). */
export const aiPolicies = defineSlice({
  name: 'aiPolicies',
  tables: ['ai_pii_policies', 'ai_pii_recognizers', 'ai_firewall_policies'],
  queries: {
    ai_pii_policies: `select tenant_id, sandbox, id, recognizer_ids, default_action from ai_pii_policies where ${OF_SPACE}`,
    ai_pii_recognizers: `select tenant_id, sandbox, id, name, kind, pattern, context_words, confidence::float8, action, format, enabled
      from ai_pii_recognizers where ${OF_SPACE} and enabled order by created_at, id`,
    ai_firewall_policies: `select tenant_id, sandbox, id, name, version, heuristics, canary_enabled, action from ai_firewall_policies where ${OF_SPACE}`,
  },
  compile(rows: Rows): { aiPolicies: AiPolicies } {
    const policies = new Map(rows.ai_pii_policies.map((row) => [row.id, row]));
    const firewalls = new Map(rows.ai_firewall_policies.map((row) => [row.id, row]));
    return {
      aiPolicies: {
        pii: memoized((id) => piiRules(id === null ? null : present(policies, id), rows.ai_pii_recognizers)),
        firewall: memoized((id) => (id === null ? BUILT_IN_FIREWALL : firewallRules(present(firewalls, id)))),
      },
    };
  },
  size: (rows) => rows.ai_pii_policies.length + rows.ai_pii_recognizers.length + rows.ai_firewall_policies.length,
});

function present<Row>(rows: ReadonlyMap<string, Row>, id: string): Row {
  const row = rows.get(id);
  if (!row) throw new PolicyMissing('The policy of this agent is missing.');
  return row;
}

function memoized<Value>(make: (id: string | null) => Value): (id: string | null) => Value {
  const made = new Map<string | null, Value>();
  return (id) => {
    const known = made.get(id);
    if (known !== undefined) return known;
    const value = make(id);
    made.set(id, value);
    return value;
  };
}
