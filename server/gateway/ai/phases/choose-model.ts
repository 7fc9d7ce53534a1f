import type { ModelPolicy } from '#server/ai/models/policy.ts';
import { refusedFallback, resolveModel } from '#server/ai/models/policy.ts';
import { type AiRefused, aiRefusal } from '../../governance/envelope.ts';
import { type AiCall, detectedOf } from '../ai-call.ts';
import { mayNameModel, uploadModel } from '../uploads.ts';

/** Step 6: the model that is called, and whether agent and token allow it (interface rule 51 §5.7). */
export function chooseModel(call: AiCall): AiRefused | undefined {
  const { state } = call;
  const { agent, principal, adapter, body } = state;
  const detected = detectedOf(call);
  if (!agent || !principal) return aiRefusal('missing_auth', 'The call was not authenticated.');
  const provider = agent.provider ?? 'custom';
  const { scope } = principal.token;
  if (detected.shape === 'models' || detected.storedId !== undefined) return undefined;
  const policy = modelPolicy(call);
  if (state.multipart && detected.modelInPath !== undefined && call.body !== null && mayNameModel(call.body)) {
    const own = uploadModel(call.body);
    if (own !== detected.modelInPath) return aiRefusal('invalid_request_body', 'The upload must name the model of its path, or none.');
  }
  // An upload is passed on as it is: no default is put into it.
  const asked = detected.modelInPath ?? (state.multipart ? uploadModel(call.body) : body && adapter?.model(body)) ?? undefined;
  const chosen = resolveModel(state.multipart ? { ...policy, defaultModel: null } : policy, asked, provider);
  if ('refuse' in chosen) return refused(chosen);
  const further = body && adapter ? refusedFallback(policy, adapter.otherModels(body), provider) : undefined;
  if (further) return refused(further);
  state.model = chosen;
  if (scope.providers && !scope.providers.includes(provider))
    return aiRefusal('provider_not_allowed', "This token doesn't allow the provider of this agent.");
  return undefined;
}

type Refusal = { refuse: 'model_required' | 'model_not_allowed'; model?: string; description: string };
const refused = ({ refuse, description, model }: Refusal): AiRefused =>
  aiRefusal(refuse, description, model === undefined ? {} : { extra: { model: model.slice(0, 200) } });

const NONE: ReadonlySet<string> = new Set();

/** What decides the model of this call. */
export function modelPolicy({ state: { agent, gateway, principal } }: AiCall): ModelPolicy {
  const models = principal?.token.scope.models;
  return {
    defaultModel: agent?.default_model ?? null,
    aliases: gateway?.aliases ?? new Map(),
    rewrite: agent?.rewrites ?? new Map(),
    allow: agent?.allowedModels ?? NONE,
    deny: agent?.deniedModels ?? NONE,
    scope: models && new Set(models),
  };
}

/** Names of models are the caller's words: nothing of them ends a header. */
export const headerText = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?').slice(0, 200);
