import { type CachedCall, type Caller, exactKey, questionOf } from '#server/ai/cache/key.ts';
import { isCacheable } from '#server/ai/cache/may-keep.ts';
import { streamForm } from '#server/ai/cache/streamed.ts';
import type { JsonObject } from '#server/ai/json.ts';
import { contentFingerprint } from '#server/crypto/canonical-json.ts';
import { parseExact } from '#server/kernel/lossless-json.ts';
import type { Principal } from '../../governance/principal.ts';
import type { AiAgentConfig } from '../../snapshot/ai-config.ts';
import { type AiCall, detectedOf } from '../ai-call.ts';
import { candidatesOf } from '../upstream/candidates.ts';

/** Headers of the caller that change what a provider answers. */
const MEANT = new Set(['anthropic-version', 'anthropic-beta', 'openai-beta', 'openai-project']);

/**
 * Decides what of the cache a call uses, by its body after personal data was replaced and before a canary stands in it. Nothing is planned for a call whose
 * answer is its own.
 */
export function planCache(call: AiCall, body: JsonObject): void {
  const { state, snapshot } = call;
  const { agent, adapter, model, principal, cacheControl } = state;
  const { shape, operation, endpoint } = detectedOf(call);
  if (!agent || !adapter || model === null || !principal || call.method !== 'POST' || state.multipart || principal.token.origin === 'test')
    return;
  if (!isCacheable(operation, shape, body) || (state.stream && !streamForm(shape))) return;
  const asked = new Set((cacheControl ?? '').split(',').map((word) => word.trim()));
  if (asked.has('no-store')) return;
  const of: CachedCall = {
    tenant_id: snapshot.tenant.id,
    sandbox: snapshot.sandbox,
    agent_id: agent.id,
    config: configOf(call, agent),
    shape,
    operation,
    endpoint,
    model: model.final,
    caller: agent.cache_scope === 'shared' ? null : callerOf(state, principal),
    headers: meantHeaders(call),
  };
  try {
    state.cachePlan = {
      call: of,
      key: exactKey(of, body),
      question: agent.cache_mode === 'semantic' ? questionOf(of, adapter, body) : undefined,
      vector: null,
      reads: !asked.has('no-cache'),
      writes: true,
    };
  } catch (error) {
    // Numbers and texts that canonical JSON can't hold: such a body is only passed on.
    if (!(error instanceof TypeError)) throw error;
  }
}

/** A token that names a user speaks for nobody else, so what another of theirs was answered is theirs too. What a header says holds for its own token only. */
const callerOf = ({ userHeader }: AiCall['state'], { token }: Principal): Caller =>
  token.scope.user === undefined ? { token: token.id, user: userHeader } : { signed: token.scope.user };

function meantHeaders({ names, req: { rawHeaders } }: AiCall): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [i, name] of names.entries()) if (MEANT.has(name)) found[name] = `${found[name] ?? ''}\n${rawHeaders[i * 2 + 1]}`;
  return found;
}

const fingerprints = new WeakMap<AiAgentConfig, string>();

/** Changes with every write of the agent, and with where its routes lead. */
function configOf(call: AiCall, agent: AiAgentConfig): string {
  let own = fingerprints.get(agent);
  if (own === undefined) {
    const plain = parseExact(
      JSON.stringify(agent, (_, value: unknown) => (value instanceof Set || value instanceof Map ? [...value] : value)),
    );
    own = contentFingerprint(plain);
    fingerprints.set(agent, own);
  }
  const routes = candidatesOf(call).map(({ route, provider, host }) => `${route.id} ${provider} ${host}`);
  return `${own} ${routes.join(' ')}`;
}
