import type { z } from 'zod';
import { allowsMore, checksLess, drops, type Looser, replaced, weaker } from '#server/kernel/loosening.ts';
import type { UpdateAiAgent } from './agents.schema.ts';

type AgentSettings = Omit<
  z.output<typeof UpdateAiAgent>,
  'id' | 'provider' | 'upstream_secret_id' | 'upstream' | 'pii_detokenize_response'
>;

/** Which changes of an agent take away what guards its prompts, its answers, or where they go. Amounts and rates bound cost, and are judged elsewhere. */
export const AI_AGENT_PROTECTIONS: Looser<AgentSettings> = {
  name: 'harmless',
  slug: 'harmless',
  description: 'harmless',
  primary_route_id: 'harmless',
  fallback_route_ids: 'harmless',
  upstream_secret_ids: 'harmless',
  enforced_system_prefix: 'harmless',
  default_model: 'harmless',
  model_allowlist: allowsMore,
  model_denylist: drops,
  model_rewrite: 'harmless',
  budget_daily_usd: 'harmless',
  budget_monthly_usd: 'harmless',
  budget_per_call_max_tokens: 'harmless',
  budget_overage_action: 'harmless',
  budget_boost: 'harmless',
  alert_thresholds: 'harmless',
  fallback_agent_id: 'harmless',
  unpriced_action: 'harmless',
  pii_redact_policy_id: replaced,
  pii_request_mode: weaker('tokenize', 'off'),
  pii_response_mode: weaker('redact', 'detokenize'),
  pii_streaming_mode: weaker('buffer', 'holdback', 'monitor'),
  pii_streaming_holdback_chars: (before, after) => after < before,
  tags: 'harmless',
  cache_mode: 'harmless',
  cache_scope: weaker('user', 'shared'),
  cache_ttl_seconds: 'harmless',
  cache_similarity_threshold: 'harmless',
  cache_embedding_model: 'harmless',
  streaming_enabled: 'harmless',
  unsupported: 'harmless',
  firewall_policy_id: replaced,
  tool_allowlist: allowsMore,
  output_schema: (before, after) => before !== null && after === null,
  output_validation_action: weaker('block', 'retry', 'warn'),
  guardrail_webhook_url: replaced,
  guardrail_webhook_secret_id: replaced,
  guardrail_webhook_mode: checksLess,
  guardrail_webhook_timeout_ms: 'harmless',
  guardrail_webhook_failure_action: weaker('fail_closed', 'fail_open'),
  routing_policy: 'harmless',
  data_residency_region: replaced,
  cmek_key_id: replaced,
  rate_limit_rpm: 'harmless',
  rate_limit_tpm: 'harmless',
  max_concurrency: 'harmless',
};
