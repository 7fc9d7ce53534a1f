/** What decides the model of a call: of the gateway, the agent and the token (spec/51 §5.7). */
export type ModelPolicy = {
  readonly defaultModel: string | null;
  /** Of the gateway, one hop. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Of the agent, after the aliases, one hop. */
  readonly rewrite: ReadonlyMap<string, string>;
  /** Empty allows any. */
  readonly allow: ReadonlySet<string>;
  readonly deny: ReadonlySet<string>;
  /** `scope.models` of the token; undefined allows any. */
  readonly scope?: ReadonlySet<string> | undefined;
};

export type ResolvedModel = { readonly requested: string; readonly final: string };
export type ModelRefused = {
  readonly refuse: 'model_required' | 'model_not_allowed';
  readonly model?: string;
  readonly description: string;
};

/** The model that is called for the one that was asked for, or why none is. */
export function resolveModel(policy: ModelPolicy, asked: string | undefined, provider: string): ResolvedModel | ModelRefused {
  const requested = asked === undefined || asked === '' ? (policy.defaultModel ?? '') : asked;
  if (requested === '')
    return { refuse: 'model_required', description: 'The request names no model, and this agent has no default model. Send `model`.' };
  const aliased = policy.aliases.get(requested) ?? requested;
  const final = policy.rewrite.get(aliased) ?? aliased;
  const denied = [requested, aliased, final].find((model) => isListed(policy.deny, model, provider));
  return denied === undefined && isAllowed(policy, final, provider) ? { requested, final } : notAllowed(requested);
}

/** The first of further models of a body (a provider's own fall-backs) that isn't allowed as it stands; they are not renamed. */
export function refusedFallback(policy: ModelPolicy, models: readonly string[], provider: string): ModelRefused | undefined {
  const refused = models.find((model) => isListed(policy.deny, model, provider) || !isAllowed(policy, model, provider));
  return refused === undefined ? undefined : notAllowed(refused);
}

/** Models that a token may call, for a list of models: the allowlist, or else what is known of the provider, and the names that lead to others. */
export function visibleModels(policy: ModelPolicy, known: readonly string[], provider: string): string[] {
  const named = [...policy.aliases.keys(), ...policy.rewrite.keys()];
  const listed = new Set([...(policy.allow.size > 0 ? policy.allow : known), ...named]);
  return [...listed].filter((model) => !('refuse' in resolveModel(policy, model, provider))).sort();
}

function isAllowed({ allow, scope }: ModelPolicy, model: string, provider: string): boolean {
  return (allow.size === 0 || isListed(allow, model, provider)) && (scope === undefined || isListed(scope, model, provider));
}

function isListed(list: ReadonlySet<string>, model: string, provider: string): boolean {
  if (list.size === 0) return false;
  if (list.has(model)) return true;
  if (provider !== 'bedrock') return false;
  const bare = withoutRegion(model);
  return list.has(bare) || [...list].some((entry) => withoutRegion(entry) === bare);
}

/** Bedrock names an inference profile by the region group and the model: `eu.anthropic.claude-…`. */
export const withoutRegion = (model: string): string => model.replace(/^(?:us-gov|us|eu|apac|jp|au|ca|global)\./, '');

const notAllowed = (model: string): ModelRefused => ({
  refuse: 'model_not_allowed',
  model,
  description: `The model ${model.slice(0, 200)} is not allowed for this agent or token.`,
});
