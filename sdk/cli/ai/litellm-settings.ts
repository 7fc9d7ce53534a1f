import type { Plan } from './litellm-plan.ts';

// Settings of LiteLLM's proxy that hold for all its models, as settings of each agent.

export type Entry = Readonly<Record<string, unknown>>;
export type AgentSettings = {
  routing_policy: Record<string, unknown>;
  unsupported?: 'drop';
  cache_mode?: 'exact' | 'semantic';
  cache_ttl_seconds?: number;
  cache_similarity_threshold?: number;
  cache_embedding_model?: string;
};

/** Adds to the plan what is left out, and what works otherwise than the file says. */
export function settingsOf(router: Entry, settings: Entry, plan: Pick<Plan, 'skipped' | 'notes'>): AgentSettings {
  return {
    routing_policy: routingPolicy(router, settings),
    ...(settings.drop_params === true ? { unsupported: 'drop' as const } : {}),
    ...(settings.cache === true ? cacheOf(objectOf(settings.cache_params), plan) : {}),
  };
}

/** LiteLLM counts retries, we count attempts (interface rule 50 §5.4). A deployment's own numbers come first. */
export function routingPolicy(...places: readonly Entry[]): Record<string, unknown> {
  const first = (...names: string[]) => places.flatMap((place) => names.map((name) => numberOf(place[name]))).find((one) => one !== null);
  const retries = first('num_retries', 'max_retries');
  const timeout = first('timeout', 'request_timeout');
  const fails = first('allowed_fails');
  const cooldown = first('cooldown_time');
  return {
    ...(retries ? { max_attempts: Math.round(retries) + 1, retry_on: ['429', '5xx', 'timeout'] } : {}),
    ...(timeout ? { attempt_timeout_ms: Math.round(timeout * 1000) } : {}),
    // It fails more often than it may.
    ...(fails
      ? { circuit: { failure_threshold: Math.round(fails) + 1, ...(cooldown ? { cooldown_ms: Math.round(cooldown * 1000) } : {}) } }
      : {}),
  };
}

const DEFAULT_TTL = 3_600;
const LONGEST_TTL = 2_592_000;

function cacheOf(params: Entry, { skipped, notes }: Pick<Plan, 'skipped' | 'notes'>): Partial<AgentSettings> {
  const semantic = typeof params.type === 'string' && params.type.endsWith('semantic');
  if (typeof params.type === 'string' && params.type !== 'local')
    skipped.push(`litellm_settings.cache_params.type: ${params.type} isn’t used; cached answers are kept by this service`);
  const ttl = numberOf(params.ttl);
  if (params.mode === 'default_off') {
    skipped.push('litellm_settings.cache_params.mode: callers switch the cache off by a header, not on; the cache stays off');
    return {};
  }
  if (ttl === null) notes.push(`litellm_settings.cache: cached answers are kept for ${DEFAULT_TTL} seconds, as cache_params has no ttl`);
  notes.push(
    'litellm_settings.cache: answers are cached for their own caller alone; set cache_scope to shared to give them to all callers',
  );
  const model = params.redis_semantic_cache_embedding_model ?? params.qdrant_semantic_cache_embedding_model;
  const threshold = numberOf(params.similarity_threshold);
  if (semantic && typeof model !== 'string')
    notes.push('litellm_settings.cache: no embedding model is named, so only the same request is answered from the cache');
  return {
    cache_mode: semantic && typeof model === 'string' ? 'semantic' : 'exact',
    cache_ttl_seconds: Math.min(Math.max(Math.round(ttl ?? DEFAULT_TTL), 1), LONGEST_TTL),
    ...(semantic && typeof model === 'string' ? { cache_embedding_model: model } : {}),
    ...(semantic && threshold !== null && threshold <= 1 ? { cache_similarity_threshold: threshold } : {}),
  };
}

export const objectOf = (value: unknown): Entry =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Entry) : {};
export const numberOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : null;
