import { z } from 'zod';
import { atLeastOne, atMostDecimals, baseUrl, label, pathId, text, time, uuid } from '#server/kernel/fields.ts';
import { anyObject, columnObject, storedJson } from '#server/kernel/json-fields.ts';
import { listQuery } from '#server/kernel/page.ts';
import { alertThresholds, BudgetBoost, budgetBoost, model, modelMap, models, STATUSES, slug, tags, unique, usd } from './values.schema.ts';

export const AGENT_OVERAGE_ACTIONS = ['block', 'warn', 'fallback'] as const;
export const UNPRICED_ACTIONS = ['allow', 'block'] as const;
export const PII_REQUEST_MODES = ['off', 'tokenize'] as const;
export const PII_RESPONSE_MODES = ['redact', 'detokenize'] as const;
export const PII_STREAMING_MODES = ['holdback', 'buffer', 'monitor'] as const;
export const CACHE_MODES = ['off', 'exact', 'semantic'] as const;
export const CACHE_SCOPES = ['user', 'shared'] as const;
export const UNSUPPORTED = ['refuse', 'drop'] as const;
export const OUTPUT_VALIDATION_ACTIONS = ['block', 'retry', 'warn'] as const;
export const GUARDRAIL_MODES = ['off', 'request', 'response', 'both'] as const;
export const GUARDRAIL_FAILURE_ACTIONS = ['fail_open', 'fail_closed'] as const;
export const RESIDENCY_REGIONS = ['us', 'eu', 'uk', 'ca', 'au', 'jp', 'in'] as const;
export const RETRY_REASONS = ['429', '5xx', 'timeout'] as const;

const MOST_SCHEMA_BYTES = 65_536;

/** Any size, as it is clamped to its bounds; a fraction would be cut. */
const whole = () =>
  z
    .number()
    .refine(...atMostDecimals(0))
    .meta({ type: 'integer' });

/** When a route that keeps failing is left out (interface rule 50 §14.1). Numbers out of range are clamped too. */
export const CircuitPolicy = z
  .strictObject({
    failure_threshold: whole().nullable(),
    failure_rate: z.number().nullable(),
    min_requests: whole(),
    cooldown_ms: whole(),
    failure_codes: z.array(z.int().min(400).max(599)).max(50),
  })
  .partial()
  .meta({ id: 'AiCircuitPolicy' });

/** How calls of an agent are repeated and spread (interface rule 50 §5.4). Numbers out of range are clamped whenever they are read. */
export const RoutingPolicy = z
  .strictObject({
    max_attempts: whole(),
    retry_on: z.array(z.enum(RETRY_REASONS)).max(10),
    backoff_ms: whole(),
    backoff_multiplier: z.number(),
    max_backoff_ms: whole(),
    jitter: z.boolean(),
    respect_retry_after: z.boolean(),
    max_retry_after_ms: whole(),
    route_weights: z.record(uuid(), whole()).refine((weights) => Object.keys(weights).length <= 6, 'must have at most 6 entries'),
    attempt_timeout_ms: whole(),
    circuit: CircuitPolicy.nullable(),
  })
  .partial()
  .meta({ id: 'AiRoutingPolicy' });

const jsonSchema = () =>
  anyObject()
    .refine((schema) => new TextEncoder().encode(JSON.stringify(schema)).length <= MOST_SCHEMA_BYTES, 'must be at most 64 KiB')
    .meta({ type: 'object', additionalProperties: true });

/** A governed door to one upstream (interface rule 50 §5.1). Amounts are decimal texts. */
export const AiAgent = z
  .object({
    id: z.uuid(),
    tenant_id: z.uuid(),
    gateway_id: z.uuid(),
    name: z.string(),
    slug: z.string(),
    description: z.string().nullable(),
    provider: z.string().nullable(),
    /** Where the provider is called; null without a provider. */
    upstream: z.string().nullable(),
    primary_route_id: z.uuid().nullable(),
    fallback_route_ids: z.array(z.uuid()),
    upstream_secret_ids: z.array(z.uuid()),
    enforced_system_prefix: z.string().nullable(),
    default_model: z.string().nullable(),
    model_allowlist: z.array(z.string()),
    model_denylist: z.array(z.string()),
    model_rewrite: z.record(z.string(), z.string()),
    budget_daily_usd: z.string().nullable(),
    budget_monthly_usd: z.string().nullable(),
    budget_per_call_max_tokens: z.int().nullable(),
    budget_overage_action: z.enum(AGENT_OVERAGE_ACTIONS),
    budget_boost: BudgetBoost.nullable(),
    alert_thresholds: z.array(z.number()),
    fallback_agent_id: z.uuid().nullable(),
    unpriced_action: z.enum(UNPRICED_ACTIONS),
    pii_redact_policy_id: z.uuid().nullable(),
    pii_request_mode: z.enum(PII_REQUEST_MODES),
    pii_response_mode: z.enum(PII_RESPONSE_MODES),
    /** Whether pii_response_mode is detokenize. */
    pii_detokenize_response: z.boolean(),
    pii_streaming_mode: z.enum(PII_STREAMING_MODES),
    pii_streaming_holdback_chars: z.int(),
    tags: z.record(z.string(), z.string()),
    cache_mode: z.enum(CACHE_MODES),
    cache_scope: z.enum(CACHE_SCOPES),
    cache_ttl_seconds: z.int(),
    cache_similarity_threshold: z.string(),
    cache_embedding_model: z.string().nullable(),
    streaming_enabled: z.boolean(),
    unsupported: z.enum(UNSUPPORTED),
    firewall_policy_id: z.uuid().nullable(),
    tool_allowlist: z.array(z.string()),
    output_schema: columnObject().nullable(),
    output_validation_action: z.enum(OUTPUT_VALIDATION_ACTIONS),
    guardrail_webhook_url: z.string().nullable(),
    guardrail_webhook_secret_id: z.uuid().nullable(),
    guardrail_webhook_mode: z.enum(GUARDRAIL_MODES),
    guardrail_webhook_timeout_ms: z.int(),
    guardrail_webhook_failure_action: z.enum(GUARDRAIL_FAILURE_ACTIONS),
    routing_policy: RoutingPolicy,
    data_residency_region: z.enum(RESIDENCY_REGIONS).nullable(),
    cmek_key_id: z.uuid().nullable(),
    rate_limit_rpm: z.int().nullable(),
    rate_limit_tpm: z.int().nullable(),
    max_concurrency: z.int().nullable(),
    status: z.enum(STATUSES),
    paused_reason: z.string().nullable(),
    /** What SDKs take as their base; empty when the workspace has no host. */
    agent_url: z.string(),
    sandbox: z.boolean(),
    created_at: time(),
    updated_at: time(),
    created_by: z.uuid().nullable(),
  })
  .meta({ id: 'AiAgent' });

const threshold = () =>
  z
    .union([z.number().transform(String), z.string().max(10)])
    .refine((value) => /^(?:0(?:\.\d{1,3})?|1(?:\.0{1,3})?)$/.test(value), 'must be between 0 and 1, with at most 3 decimals')
    .transform((value) => Number(value).toFixed(3))
    .meta({ type: ['number', 'string'], examples: ['0.950'] });

const settings = {
  name: label(100),
  slug: slug(),
  description: text(1_000),
  primary_route_id: uuid().nullable(),
  fallback_route_ids: z
    .array(uuid())
    .max(5)
    .refine((ids) => new Set(ids).size === ids.length, 'must not name a route twice'),
  upstream_secret_ids: z
    .array(uuid())
    .max(10)
    .refine((ids) => new Set(ids).size === ids.length, 'must not name a secret twice'),
  enforced_system_prefix: text(20_000),
  default_model: model().nullable(),
  model_allowlist: models(200),
  model_denylist: models(200),
  model_rewrite: modelMap(100),
  budget_daily_usd: usd().nullable(),
  budget_monthly_usd: usd().nullable(),
  budget_per_call_max_tokens: z.int().min(1).max(1_000_000).nullable(),
  budget_overage_action: z.enum(AGENT_OVERAGE_ACTIONS),
  budget_boost: budgetBoost(),
  alert_thresholds: alertThresholds(),
  fallback_agent_id: uuid().nullable(),
  unpriced_action: z.enum(UNPRICED_ACTIONS),
  pii_redact_policy_id: uuid().nullable(),
  pii_request_mode: z.enum(PII_REQUEST_MODES),
  pii_response_mode: z.enum(PII_RESPONSE_MODES),
  /** An older spelling of pii_response_mode. */
  pii_detokenize_response: z.boolean(),
  pii_streaming_mode: z.enum(PII_STREAMING_MODES),
  pii_streaming_holdback_chars: z.int().min(16).max(4_096),
  tags: tags(),
  cache_mode: z.enum(CACHE_MODES),
  cache_scope: z.enum(CACHE_SCOPES),
  cache_ttl_seconds: z.int().min(0).max(2_592_000),
  cache_similarity_threshold: threshold(),
  cache_embedding_model: model().nullable(),
  streaming_enabled: z.boolean(),
  unsupported: z.enum(UNSUPPORTED),
  firewall_policy_id: uuid().nullable(),
  tool_allowlist: z.array(label(200)).max(200).transform(unique),
  output_schema: storedJson(jsonSchema()).nullable(),
  output_validation_action: z.enum(OUTPUT_VALIDATION_ACTIONS),
  guardrail_webhook_url: baseUrl().nullable(),
  guardrail_webhook_secret_id: uuid().nullable(),
  guardrail_webhook_mode: z.enum(GUARDRAIL_MODES),
  guardrail_webhook_timeout_ms: z.int().transform((ms) => Math.min(Math.max(ms, 100), 10_000)),
  guardrail_webhook_failure_action: z.enum(GUARDRAIL_FAILURE_ACTIONS),
  routing_policy: RoutingPolicy,
  data_residency_region: z.enum(RESIDENCY_REGIONS).nullable(),
  cmek_key_id: uuid().nullable(),
  rate_limit_rpm: z.int().min(1).max(1_000_000).nullable(),
  rate_limit_tpm: z.int().min(1).max(1_000_000_000).nullable(),
  max_concurrency: z.int().min(1).max(1_000).nullable(),
};

/** With `provider`, the agent's route is made with it. */
export const CreateAiAgent = z
  .object(settings)
  .partial()
  .extend({
    id: pathId(),
    name: settings.name,
    slug: settings.slug,
    provider: z.string().max(64).nullable().optional(),
    upstream_secret_id: uuid().optional(),
    upstream: baseUrl().optional(),
  });

const atCreation = () => z.never({ error: "is set when the agent is created, and can't be changed" }).optional();

export const UpdateAiAgent = atLeastOne(
  z
    .object(settings)
    .partial()
    .extend({ id: pathId(), provider: atCreation(), upstream_secret_id: atCreation(), upstream: baseUrl().nullable().optional() }),
);

export const ListAiAgents = listQuery({
  sorts: ['created_at', 'name'],
  sort: 'created_at',
  order: 'desc',
  filters: { id: pathId(), status: z.enum(STATUSES).optional() },
});

export const AiAgentRef = z.object({ id: pathId() });

export const CIRCUIT_STATES = ['closed', 'open', 'half_open'] as const;
/** How it stands with a route of an agent. */
export const AiCircuit = z
  .object({
    route_id: z.uuid(),
    route: z.string(),
    state: z.enum(CIRCUIT_STATES),
    failures: z.int(),
    requests: z.int(),
    /** What failed last: a status or a code. */
    cause: z.string().nullable(),
    opened_at: time().nullable(),
    open_until: time().nullable(),
  })
  .meta({ id: 'AiCircuit' });

export const AiCircuitRef = z.object({ id: pathId(), route_id: pathId() });

export const PurgedAiCache = z.object({ id: z.uuid(), purged: z.int() }).meta({ id: 'PurgedAiCache' });
