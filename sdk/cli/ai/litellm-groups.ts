import type { Plan, PlannedAgent } from './litellm-plan.ts';
import { type Entry, objectOf } from './litellm-settings.ts';

// Deployments of one model_name, and what LiteLLM's router does between them.

/** The deployments of each model_name, in the order of the file. */
export type Groups = Map<string, PlannedAgent[]>;

const MOST_FALLBACKS = 5;

/** Deployments of one model share its calls: the first agent of the group takes them, and its routing weights spread them over the routes of all. */
export function shareCalls(plan: Plan, name: string, [first, ...others]: readonly PlannedAgent[]): void {
  if (!first) return;
  // What all of them have, as LiteLLM's simple shuffle chooses.
  const all = [first, ...others];
  const measures = [
    (one: PlannedAgent) => one.shares[one.slug],
    (one: PlannedAgent) => one.rate_limit_rpm,
    (one: PlannedAgent) => one.rate_limit_tpm,
  ];
  const measure = measures.find((of) => all.every((one) => of(one) != null)) ?? (() => 1);
  const weights: Record<string, number> = { [first.slug]: measure(first) ?? 1 };
  for (const other of others) {
    if (other.provider === first.provider && other.model !== first.model) {
      plan.skipped.push(
        `${name}: the deployment ${other.model} has another model of the same provider, so it is an agent of its own and takes no share of the calls`,
      );
      continue;
    }
    if (Object.keys(weights).length > MOST_FALLBACKS) {
      plan.skipped.push(`${name}: calls are shared by ${MOST_FALLBACKS + 1} routes at most; ${other.slug} takes no share`);
      continue;
    }
    weights[other.slug] = measure(other) ?? 1;
    first.fallbacks.push(other.slug);
  }
  if (others.length > 0) first.shares = Object.keys(weights).length > 1 ? scaled(weights) : {};
}

/** Weights of ours are whole numbers from 1 to 1,000. */
function scaled(weights: Readonly<Record<string, number>>): Record<string, number> {
  const most = Math.max(...Object.values(weights));
  const factor = most > 1_000 || Object.values(weights).some((one) => !Number.isInteger(one)) ? 1_000 / most : 1;
  return Object.fromEntries(Object.entries(weights).map(([slug, one]) => [slug, Math.max(1, Math.round(one * factor))]));
}

/** `fallbacks` of each model, then `default_fallbacks` for the models that have none. */
export function importFallbacks(plan: Plan, groups: Groups, router: Entry, settings: Entry): void {
  const named = new Set<string>();
  const places = [
    ['router_settings', router],
    ['litellm_settings', settings],
  ] as const;
  for (const [where, { fallbacks }] of places)
    for (const one of Array.isArray(fallbacks) ? fallbacks : [])
      for (const [name, targets] of Object.entries(objectOf(one))) {
        named.add(name);
        addFallbacks(plan, groups, name, targets, `${where}.fallbacks`);
      }
  for (const [where, { default_fallbacks }] of places)
    for (const name of default_fallbacks === undefined ? [] : groups.keys())
      if (!named.has(name)) addFallbacks(plan, groups, name, default_fallbacks, `${where}.default_fallbacks`);
}

/** Why a model can't take over from another of its provider, and what can be done. */
const sameProvider = (provider: string, name: string, { slug, model }: PlannedAgent): string =>
  provider === 'openai'
    ? `calls keep their model within one provider. In the file, write ${name} as custom_openai/${model} with its api_base to make it another provider, openai-compatible, and set its price there; or have callers ask the agent ${slug} when a call fails`
    : `calls keep their model within one provider. Name a fallback of another provider, or have callers ask the agent ${slug} when a call fails`;

/** Routes of other models take over, where the product can call another model then. */
function addFallbacks(plan: Plan, groups: Groups, name: string, targets: unknown, where: string): void {
  const [agent] = groups.get(name) ?? [];
  if (!agent) {
    plan.skipped.push(`${where}: ${name} isn’t a model of this file that was imported`);
    return;
  }
  for (const target of Array.isArray(targets) ? targets : [targets]) {
    const text = typeof target === 'string' ? target : undefined;
    const other = text === undefined ? undefined : groups.get(text)?.[0];
    const way = `${where}: ${name} to ${text ?? 'a deployment'}`;
    if (text === name) continue;
    if (!other) plan.skipped.push(`${way}: isn’t a model of this file that was imported`);
    else if (other.provider === agent.provider && other.model !== agent.model)
      plan.skipped.push(`${way}: ${sameProvider(agent.provider, text ?? '', other)}`);
    else if (agent.fallbacks.length >= MOST_FALLBACKS) plan.skipped.push(`${way}: an agent has ${MOST_FALLBACKS} fallback routes at most`);
    else if (other !== agent && !agent.fallbacks.includes(other.slug)) agent.fallbacks.push(other.slug);
  }
}
