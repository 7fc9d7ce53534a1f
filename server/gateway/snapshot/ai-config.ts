import { type RoutingPolicy, routingPolicy } from '#server/ai/routing-policy.ts';
import { defineSlice, OF_SPACE } from './slice.ts';

type Status = 'active' | 'paused' | 'archived';
/** Raises both budgets until an instant. */
type Boost = { amount: string; until: string; reason: string | null };
/** Amounts are decimal texts, as PostgreSQL writes them. */
type GatewayRow = {
  id: string;
  name: string;
  slug: string;
  budget_daily_usd: string | null;
  budget_monthly_usd: string | null;
  budget_overage_action: 'block' | 'warn';
  budget_boost: Boost | null;
  alert_thresholds: number[];
  model_aliases: Record<string, string>;
  user_attribution: 'off' | 'optional' | 'required';
  status: Status;
  paused_reason: string | null;
};
type AgentRow = {
  id: string;
  gateway_id: string;
  name: string;
  slug: string;
  provider: string | null;
  primary_route_id: string | null;
  fallback_route_ids: string[];
  upstream_secret_ids: string[];
  enforced_system_prefix: string | null;
  default_model: string | null;
  model_allowlist: string[];
  model_denylist: string[];
  model_rewrite: Record<string, string>;
  budget_daily_usd: string | null;
  budget_monthly_usd: string | null;
  budget_per_call_max_tokens: number | null;
  budget_overage_action: 'block' | 'warn' | 'fallback';
  budget_boost: Boost | null;
  alert_thresholds: number[];
  fallback_agent_id: string | null;
  unpriced_action: 'allow' | 'block';
  pii_redact_policy_id: string | null;
  pii_request_mode: 'off' | 'tokenize';
  pii_response_mode: 'redact' | 'detokenize';
  pii_streaming_mode: 'holdback' | 'buffer' | 'monitor';
  pii_streaming_holdback_chars: number;
  tags: Record<string, string>;
  cache_mode: 'off' | 'exact' | 'semantic';
  cache_scope: 'user' | 'shared';
  cache_ttl_seconds: number;
  cache_similarity_threshold: string;
  cache_embedding_model: string | null;
  streaming_enabled: boolean;
  unsupported: 'drop' | 'refuse';
  firewall_policy_id: string | null;
  tool_allowlist: string[];
  output_schema: Record<string, unknown> | null;
  output_validation_action: 'block' | 'retry' | 'warn';
  guardrail_webhook_url: string | null;
  guardrail_webhook_secret_id: string | null;
  guardrail_webhook_mode: 'off' | 'request' | 'response' | 'both';
  guardrail_webhook_timeout_ms: number;
  guardrail_webhook_failure_action: 'fail_open' | 'fail_closed';
  routing_policy: unknown;
  data_residency_region: string | null;
  cmek_key_id: string | null;
  rate_limit_rpm: number | null;
  rate_limit_tpm: number | null;
  max_concurrency: number | null;
  status: Status;
  paused_reason: string | null;
};

/** Daily and monthly budget in billionths of a USD; null: no cap. 0 refuses everything that costs. */
export type Budget = { readonly dailyNano: number | null; readonly monthlyNano: number | null };

export type AiGatewayConfig = Readonly<Omit<GatewayRow, 'model_aliases'>> & {
  readonly budget: Budget;
  readonly aliases: ReadonlyMap<string, string>;
};

/** An agent's row, with what calls look things up in. `output_schema` is compiled at its first use, by whom it needs. */
export type AiAgentConfig = Readonly<
  Omit<
    AgentRow,
    'model_allowlist' | 'model_denylist' | 'model_rewrite' | 'tool_allowlist' | 'routing_policy' | 'cache_similarity_threshold'
  >
> & {
  readonly budget: Budget;
  /** Null: any model. */
  readonly allowedModels: ReadonlySet<string> | null;
  readonly deniedModels: ReadonlySet<string>;
  readonly rewrites: ReadonlyMap<string, string>;
  /** Null: any tool. */
  readonly allowedTools: ReadonlySet<string> | null;
  readonly routing: RoutingPolicy;
  readonly cacheSimilarity: number;
};

export type AiConfig = {
  readonly gatewaysById: ReadonlyMap<string, AiGatewayConfig>;
  readonly agentsById: ReadonlyMap<string, AiAgentConfig>;
  /** An archived agent answers to its slug until another takes it. */
  readonly agentsBySlug: ReadonlyMap<string, AiAgentConfig>;
  /** By route: the agent with a provider that the route was composed for, or is the primary route of. */
  readonly composedFor: ReadonlyMap<string, AiAgentConfig>;
};

/** Gateways and agents of the AI planes (interface rule 50 §3, §5). */
export const aiConfig = defineSlice({
  name: 'aiConfig',
  tables: ['ai_gateways', 'ai_agents'],
  queries: {
    ai_gateways: `select tenant_id, sandbox, id, name, slug, budget_daily_usd::text, budget_monthly_usd::text, budget_overage_action, budget_boost, alert_thresholds, model_aliases, user_attribution,
      status, paused_reason from ai_gateways where ${OF_SPACE}`,
    ai_agents: `select tenant_id, sandbox, id, gateway_id, name, slug, provider, primary_route_id, fallback_route_ids, upstream_secret_ids, enforced_system_prefix, default_model, model_allowlist, model_denylist,
      model_rewrite, budget_daily_usd::text, budget_monthly_usd::text, budget_per_call_max_tokens, budget_overage_action, budget_boost, alert_thresholds, fallback_agent_id, unpriced_action,
      pii_redact_policy_id, pii_request_mode, pii_response_mode, pii_streaming_mode, pii_streaming_holdback_chars, tags, cache_mode, cache_scope, cache_ttl_seconds,
      cache_similarity_threshold::text, cache_embedding_model, streaming_enabled, unsupported, firewall_policy_id, tool_allowlist, output_schema, output_validation_action,
      guardrail_webhook_url, guardrail_webhook_secret_id, guardrail_webhook_mode, guardrail_webhook_timeout_ms, guardrail_webhook_failure_action, routing_policy,
      data_residency_region, cmek_key_id, rate_limit_rpm, rate_limit_tpm, max_concurrency, status, paused_reason
      from ai_agents where ${OF_SPACE} order by (status = 'archived') desc, updated_at`,
  },
  compile(rows: { ai_gateways: GatewayRow[]; ai_agents: AgentRow[] }): { ai: AiConfig } {
    const agents = rows.ai_agents.map(compileAgent);
    return {
      ai: {
        gatewaysById: new Map(rows.ai_gateways.map((row) => [row.id, compileGateway(row)])),
        agentsById: new Map(agents.map((agent) => [agent.id, agent])),
        // Those that aren't archived come last, and win.
        agentsBySlug: new Map(agents.map((agent) => [agent.slug, agent])),
        composedFor: new Map(
          agents.flatMap((agent) => (agent.provider === null || agent.primary_route_id === null ? [] : [[agent.primary_route_id, agent]])),
        ),
      },
    };
  },
  size: (rows) => rows.ai_gateways.length + rows.ai_agents.length,
});

const compileGateway = ({ model_aliases, ...row }: GatewayRow): AiGatewayConfig => ({
  ...row,
  budget: budgetOf(row),
  aliases: new Map(Object.entries(model_aliases)),
});

function compileAgent(row: AgentRow): AiAgentConfig {
  const { model_allowlist, model_denylist, model_rewrite, tool_allowlist, routing_policy, cache_similarity_threshold, ...rest } = row;
  return {
    ...rest,
    budget: budgetOf(row),
    allowedModels: model_allowlist.length === 0 ? null : new Set(model_allowlist),
    deniedModels: new Set(model_denylist),
    rewrites: new Map(Object.entries(model_rewrite)),
    allowedTools: tool_allowlist.length === 0 ? null : new Set(tool_allowlist),
    routing: routingPolicy(routing_policy),
    cacheSimilarity: Number(cache_similarity_threshold),
  };
}

const budgetOf = (row: { budget_daily_usd: string | null; budget_monthly_usd: string | null }): Budget => ({
  dailyNano: nano(row.budget_daily_usd),
  monthlyNano: nano(row.budget_monthly_usd),
});

/** At most a million USD, so exact. */
const nano = (usd: string | null): number | null => (usd === null ? null : Math.round(Number(usd) * 1e9));
