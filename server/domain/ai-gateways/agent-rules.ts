import { needsSecret, type Provider } from '#server/ai/providers/catalogue.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { invalid } from '#server/kernel/errors.ts';
import { egress } from '#server/platform/egress.ts';
import { checkTargetUrl } from '#server/platform/http-out/target-url.ts';
import type { AgentRow } from './store.ts';

/** What an agent will be when the change is made. */
export type Merged = Pick<
  AgentRow,
  | 'primary_route_id'
  | 'fallback_route_ids'
  | 'default_model'
  | 'model_allowlist'
  | 'model_denylist'
  | 'budget_overage_action'
  | 'fallback_agent_id'
  | 'cache_mode'
  | 'cache_ttl_seconds'
  | 'cache_embedding_model'
  | 'guardrail_webhook_mode'
  | 'guardrail_webhook_url'
> & { model_rewrite: Record<string, string> };

/** Rules over several fields (interface rule 50 §5.5), of the state after the change. @throws Refusal validation_error */
export function checkMerged(agent: Merged): void {
  if (agent.primary_route_id !== null && agent.fallback_route_ids.includes(agent.primary_route_id))
    throw invalid('fallback_route_ids', 'must not name the primary route');
  checkDefaultModel(agent);
  if (agent.cache_mode !== 'off' && agent.cache_ttl_seconds < 1)
    throw invalid('cache_ttl_seconds', `must be at least 1 with cache_mode ${agent.cache_mode}`);
  if (agent.guardrail_webhook_mode !== 'off' && agent.guardrail_webhook_url === null)
    throw invalid('guardrail_webhook_url', `is required with guardrail_webhook_mode ${agent.guardrail_webhook_mode}`);
}

/** A default that no call could use is a mistake. A denied model is denied whatever it is rewritten to. */
function checkDefaultModel({ default_model, model_allowlist, model_denylist, model_rewrite }: Merged): void {
  if (default_model === null) return;
  const called = Object.hasOwn(model_rewrite, default_model) ? (model_rewrite[default_model] ?? default_model) : default_model;
  if (model_denylist.includes(default_model) || model_denylist.includes(called))
    throw invalid('default_model', 'is in model_denylist, so no call could use it');
  if (model_allowlist.length > 0 && !model_allowlist.includes(default_model) && !model_allowlist.includes(called))
    throw invalid('default_model', "isn't in model_allowlist, so no call could use it");
}

/** What is accepted and doesn't do what it seems to; undefined without any. */
export function adviceOn(agent: Merged): string | undefined {
  const advice = [
    agent.budget_overage_action === 'fallback' && agent.fallback_agent_id === null
      ? 'budget_overage_action is fallback without a fallback_agent_id: calls over the budget are refused, as with block.'
      : '',
    agent.cache_mode === 'semantic' && agent.cache_embedding_model === null
      ? 'cache_mode is semantic without a cache_embedding_model: the cache answers nothing until there is one.'
      : '',
  ].filter((text) => text !== '');
  return advice.length === 0 ? undefined : advice.join(' ');
}

/** What a provider needs to be composed, and what it falls back on. @throws Refusal validation_error */
export function composition(
  provider: Provider,
  input: { upstream?: string | undefined; upstream_secret_id?: string | undefined; default_model?: string | null | undefined },
): { target: string; secretId: string | null; default_model: string } {
  const { id, origin, defaultModel } = provider;
  if (input.upstream_secret_id === undefined && needsSecret(provider))
    throw invalid('upstream_secret_id', `is required with provider ${id}`);
  const target = input.upstream ?? origin;
  if (target === null) throw invalid('upstream', `is required with provider ${id}`);
  const default_model = input.default_model ?? defaultModel;
  if (default_model === null) throw invalid('default_model', `is required with provider ${id}`);
  return { target, secretId: input.upstream_secret_id ?? null, default_model };
}

/**
 * An address that the service will call, DNS included, so call it before the transaction. It is judged again at each call.
 * @throws Refusal validation_error; its message begins with `private_address:` for one that isn't public
 */
export async function checkAddress(ctx: Ctx, field: string, url: string | null | undefined): Promise<void> {
  if (!url) return;
  if (url.includes('{{')) throw invalid(field, 'must not contain placeholders');
  const verdict = await checkTargetUrl(url, egress());
  if (!verdict.ok) {
    const isPrivate = verdict.reason === 'not_allowed' || verdict.reason === 'own_host';
    throw invalid(field, isPrivate ? `private_address: ${verdict.message}` : verdict.message);
  }
  ctx.warnings.push(...verdict.warnings.map((warning) => `${field}: ${warning}`));
}
