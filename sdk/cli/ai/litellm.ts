import { parse } from 'yaml';
import { CliError } from '../exit.ts';
import { readKeys } from '../read-keys.ts';
import { type Groups, importFallbacks, shareCalls } from './litellm-groups.ts';
import type { AgentSettings, Plan, PlannedAgent } from './litellm-plan.ts';
import { needsKey, placeOf } from './litellm-providers.ts';
import { numberOf, objectOf, routingPolicy, settingsOf } from './litellm-settings.ts';

// A LiteLLM proxy's config.yaml as gateways and agents of ours. Nothing is sent here; a literal key is neither read nor kept: only that it is one.

type Entry = Readonly<Record<string, unknown>>;

const MOST_KEYS = 10;

/** Reads the file. @throws CliError when it is no LiteLLM config */
export function planOf(text: string): Plan {
  const file = readKeys(parsed(text));
  const config = objectOf(file.value);
  const list = config.model_list;
  if (!Array.isArray(list)) throw new CliError('The file has no model_list: it is not a config of LiteLLM’s proxy.');
  const plan: Plan = { agents: [], aliases: {}, skipped: [], notes: [] };
  const [router, settings] = [objectOf(config.router_settings), objectOf(config.litellm_settings)];
  const common = settingsOf(router, settings, plan);
  const groups: Groups = new Map();
  for (const entry of list) if (!addModel(plan, groups, objectOf(entry), [router, settings], common)) file.settle(entry);
  for (const [name, agents] of groups) shareCalls(plan, name, agents);
  // A share of one's own calls alone is none.
  for (const agent of plan.agents) if (Object.keys(agent.shares).length < 2) agent.shares = {};
  importFallbacks(plan, groups, router, settings);
  for (const [alias, target] of Object.entries(objectOf(router.model_group_alias))) {
    const model = typeof target === 'string' ? target : objectOf(target).model;
    if (typeof model === 'string') addAlias(plan, alias, Object.hasOwn(plan.aliases, model) ? (plan.aliases[model] ?? model) : model);
  }
  // An alias of an alias is none of ours.
  for (const [alias, model] of Object.entries(plan.aliases)) if (alias === model) delete plan.aliases[alias];
  for (const path of file.unread()) plan.skipped.push(`${path}: ${reasonFor(path)}`);
  return plan;
}

/** Why a member that is never read isn't imported, by the beginning or the end of its path. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^guardrails/, 'create firewall and PII policies instead'],
  [/^mcp_servers/, 'create MCP servers instead'],
  [/^general_settings/, 'master keys and databases have no counterpart'],
  [/^environment_variables/, 'keys are read from the environment of this command'],
  [/_cost_per_\w+$/, 'set the price of the model instead: PUT /v1/ai-gateway/prices/{provider}/{model}'],
  [/context_window_fallbacks|content_policy_fallbacks/, 'agents fall back when a call fails, whatever it says'],
  [/callbacks?$/, 'events and log streams tell other systems about calls instead'],
];
const reasonFor = (path: string): string => REASONS.find(([pattern]) => pattern.test(path))?.[1] ?? 'has no counterpart here';

/** False when the deployment is left out, which is reported. */
function addModel(plan: Plan, groups: Groups, entry: Entry, places: readonly Entry[], common: AgentSettings): boolean {
  const params = objectOf(entry.litellm_params);
  const name = textOf(entry.model_name) ?? '';
  const full = textOf(params.model);
  if (full === undefined || name === '') {
    plan.skipped.push('an entry of model_list without model_name or model');
    return false;
  }
  const place = placeOf(full, params);
  if (typeof place === 'string') {
    plan.skipped.push(`${name}: ${place}`);
    return false;
  }
  const { provider, upstream, model } = place;
  const group = groups.get(name) ?? [];
  groups.set(name, group);
  if (place.note !== undefined) plan.notes.push(`${name}: ${place.note}`);
  if (group.length === 0 && name !== model) addAlias(plan, name, model);
  const key_from = keyOf(params.api_key);
  const isSame = (one: PlannedAgent) => one.provider === provider && one.upstream === upstream && one.model === model;
  const held = plan.agents.find((one) => isSame(one) && (one.key_from === key_from || (key_from !== null && group.includes(one))));
  if (held) {
    if (held.key_from !== null && key_from !== null && held.key_from !== key_from && !held.more_keys_from.includes(key_from))
      held.more_keys_from.push(key_from);
    if (held.more_keys_from.length > MOST_KEYS) {
      held.more_keys_from.length = MOST_KEYS;
      plan.skipped.push(`${name}: has more than ${MOST_KEYS} keys besides the first; ${key_from} is left out`);
    }
    if (group.includes(held))
      plan.notes.push(`${name}: several deployments of ${model} at one place are the one agent ${held.slug}, with the limits of the first`);
    else group.push(held);
    return true;
  }
  const [daily, monthly] = budgetOf(params, name, plan);
  const agent: PlannedAgent = {
    slug: freeSlug(plan, name),
    name: name.slice(0, 100),
    provider,
    upstream,
    model,
    key_from,
    more_keys_from: [],
    keyless: params.api_key === undefined && !needsKey(provider),
    budget_daily_usd: daily,
    budget_monthly_usd: monthly,
    rate_limit_rpm: numberOf(params.rpm),
    rate_limit_tpm: numberOf(params.tpm),
    max_concurrency: numberOf(params.max_parallel_requests),
    ...common,
    ...(params.drop_params === true ? { unsupported: 'drop' as const } : {}),
    routing_policy: routingPolicy(params, ...places),
    shares: {},
    fallbacks: [],
  };
  const weight = numberOf(params.weight);
  if (weight !== null) agent.shares[agent.slug] = weight;
  plan.agents.push(agent);
  group.push(agent);
  return true;
}

/** The gateway takes no alias of such a name: it would reach the prototype of objects. */
function addAlias(plan: Plan, alias: string, model: string): void {
  if (['__proto__', 'constructor', 'prototype'].includes(alias))
    plan.skipped.push(`the alias ${alias}: no alias can have this name; rename the model in the file`);
  else plan.aliases[alias] = model;
}

function budgetOf(params: Entry, name: string, plan: Plan): [daily: number | null, monthly: number | null] {
  const amount = numberOf(params.max_budget);
  if (amount === null) return [null, null];
  if (params.budget_duration === '1d' || params.budget_duration === '24h') return [amount, null];
  if (params.budget_duration === '30d' || params.budget_duration === '1mo') return [null, amount];
  plan.skipped.push(`${name}: budgets are for a day or a month; max_budget is left out`);
  return [null, null];
}

/** `os.environ/NAME` names a variable; whatever else stands there is a key, and is not looked at any further. */
const keyOf = (value: unknown): string | null =>
  typeof value === 'string' ? (/^os\.environ\/([A-Za-z_]\w{0,127})$/.exec(value)?.[1] ?? null) : null;

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

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
