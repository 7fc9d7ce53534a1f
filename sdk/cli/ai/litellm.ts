import { parse } from 'yaml';
import { CliError } from '../exit.ts';

// A LiteLLM proxy's config.yaml as gateways and agents of ours. Nothing is sent here; a literal key is neither read nor kept: only that it is one.

/** An agent to create, with the environment variable that its key is read from. */
export type PlannedAgent = {
  slug: string;
  name: string;
  provider: string;
  upstream: string | null;
  model: string;
  /** Name of an environment variable; null: the file holds a key, or none at all. */
  key_from: string | null;
  budget_daily_usd: number | null;
  rate_limit_rpm: number | null;
  rate_limit_tpm: number | null;
  max_concurrency: number | null;
  routing_policy: Record<string, unknown>;
};
/** `aliases`: names that callers use for models, for the gateway. */
export type Plan = { agents: PlannedAgent[]; aliases: Record<string, string>; skipped: string[] };

type Entry = Record<string, unknown>;

/** Providers by the first word of a LiteLLM model. */
const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ['openai', 'openai'],
  ['anthropic', 'anthropic'],
  ['gemini', 'gemini'],
  ['cohere', 'cohere'],
  ['cohere_chat', 'cohere'],
  ['azure', 'azure-openai'],
  ['ollama', 'ollama'],
  ['ollama_chat', 'ollama'],
  ['groq', 'groq'],
  ['together_ai', 'together'],
  ['mistral', 'mistral'],
  ['deepseek', 'deepseek'],
  ['fireworks_ai', 'fireworks'],
  ['xai', 'xai'],
  ['bedrock', 'bedrock'],
  ['vertex_ai', 'vertex'],
]);
const NEEDS_UPSTREAM = new Set(['azure-openai', 'ollama', 'bedrock', 'vertex', 'openai-compatible']);

/** Reads the file. @throws CliError when it is no LiteLLM config */
export function planOf(text: string): Plan {
  const config = parsed(text);
  const list = config.model_list;
  if (!Array.isArray(list)) throw new CliError('The file has no model_list: it is not a config of LiteLLM’s proxy.');
  const plan: Plan = { agents: [], aliases: {}, skipped: [] };
  const policy = routingPolicy(objectOf(config.router_settings), objectOf(config.litellm_settings));
  for (const entry of list) addModel(plan, objectOf(entry), policy);
  for (const [alias, model] of Object.entries(objectOf(objectOf(config.router_settings).model_group_alias)))
    if (typeof model === 'string') plan.aliases[alias] = plan.aliases[model] ?? model;
  // An alias of an alias is none of ours.
  for (const [alias, model] of Object.entries(plan.aliases)) if (alias === model) delete plan.aliases[alias];
  for (const [part, why] of LEFT_OUT) if (config[part] !== undefined) plan.skipped.push(`${part}: ${why}`);
  return plan;
}

const LEFT_OUT = [
  ['guardrails', 'create firewall and PII policies instead'],
  ['mcp_servers', 'create MCP servers instead'],
  ['general_settings', 'master keys and databases have no counterpart'],
] as const;

function addModel(plan: Plan, entry: Entry, routing_policy: Record<string, unknown>): void {
  const params = objectOf(entry.litellm_params);
  const name = textOf(entry.model_name) ?? '';
  const full = textOf(params.model);
  if (full === undefined || name === '') {
    plan.skipped.push('an entry of model_list without model_name or model');
    return;
  }
  const [first = '', ...rest] = full.split('/');
  const base = textOf(params.api_base);
  const known = rest.length === 0 ? 'openai' : PROVIDERS.get(first);
  const provider = base !== undefined && known === 'openai' ? 'openai-compatible' : known;
  const model = rest.length === 0 || known === undefined ? full : rest.join('/');
  if (provider === undefined) {
    plan.skipped.push(`${name}: the provider ${first} isn’t one of ours`);
    return;
  }
  if (model.includes('*')) {
    plan.skipped.push(`${name}: an agent takes any model by itself, without a wildcard`);
    return;
  }
  if (NEEDS_UPSTREAM.has(provider) && base === undefined) {
    plan.skipped.push(`${name}: ${provider} needs an api_base`);
    return;
  }
  if (base !== undefined && !isPlainAddress(base)) {
    plan.skipped.push(`${name}: its api_base is not a plain address`);
    return;
  }
  if (name !== model) plan.aliases[name] = model;
  const key_from = keyOf(params.api_key);
  const same = plan.agents.find(
    (agent) => agent.provider === provider && agent.upstream === (base ?? null) && agent.key_from === key_from && agent.model === model,
  );
  if (same) return;
  plan.agents.push({
    slug: freeSlug(plan, name),
    name: name.slice(0, 100),
    provider,
    upstream: NEEDS_UPSTREAM.has(provider) ? (base ?? null) : null,
    model,
    key_from,
    budget_daily_usd: params.budget_duration === '1d' || params.budget_duration === '24h' ? numberOf(params.max_budget) : null,
    rate_limit_rpm: numberOf(params.rpm),
    rate_limit_tpm: numberOf(params.tpm),
    max_concurrency: numberOf(params.max_parallel_requests),
    routing_policy,
  });
}

/** Without anything that could be a credential. */
function isPlainAddress(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  );
}

/** `os.environ/NAME` names a variable; whatever else stands there is a key, and is not looked at any further. */
const keyOf = (value: unknown): string | null =>
  typeof value === 'string' ? (/^os\.environ\/([A-Za-z_]\w{0,127})$/.exec(value)?.[1] ?? null) : null;

/** LiteLLM counts retries, we count attempts (interface rule 50 §5.4). */
function routingPolicy(router: Entry, settings: Entry): Record<string, unknown> {
  const retries = numberOf(router.num_retries) ?? numberOf(settings.num_retries);
  const timeout = numberOf(router.timeout) ?? numberOf(settings.request_timeout);
  const fails = numberOf(router.allowed_fails);
  const cooldown = numberOf(router.cooldown_time);
  return {
    ...(retries ? { max_attempts: retries + 1, retry_on: ['429', '5xx', 'timeout'] } : {}),
    ...(timeout ? { attempt_timeout_ms: timeout * 1000 } : {}),
    // It fails more often than it may.
    ...(fails ? { circuit: { failure_threshold: fails + 1, ...(cooldown ? { cooldown_ms: cooldown * 1000 } : {}) } } : {}),
  };
}

function freeSlug(plan: Plan, name: string): string {
  const slug =
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 55)
      .replace(/-$/, '') || 'agent';
  for (let n = 1; ; n++) {
    const candidate = n === 1 ? slug : `${slug}-${n}`;
    if (!plan.agents.some((agent) => agent.slug === candidate)) return candidate;
  }
}

function parsed(text: string): Entry {
  try {
    return objectOf(parse(text, { maxAliasCount: 100 }));
  } catch (error) {
    // Its message quotes the file, in which there may be keys.
    const at = (error as { linePos?: readonly { line: number }[] }).linePos?.[0]?.line;
    throw new CliError(`The file is not YAML${at === undefined ? '' : `: see line ${at}`}.`);
  }
}

const objectOf = (value: unknown): Entry => (typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Entry) : {});
const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
const numberOf = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : null);
