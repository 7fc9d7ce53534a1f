import { modelEntry, modelList } from '#server/ai/models/answers.ts';
import { resolveModel, visibleModels } from '#server/ai/models/policy.ts';
import { pricedModels } from '#server/custody/ai/prices.ts';
import { ANSWERED, type PhaseResult } from '../../core/plane.ts';
import { aiRefusal } from '../../governance/envelope.ts';
import { type AiCall, detectedOf } from '../ai-call.ts';
import { modelPolicy } from '../phases/choose-model.ts';
import { sendWhole } from './whole.ts';

/** GET models: made of the policy, without asking the provider (interface rule 51 §10.2). */
export function listModels(call: AiCall): PhaseResult {
  const { agent } = call.state;
  if (!agent) return aiRefusal('missing_auth', 'The call was not authenticated.');
  const detected = detectedOf(call);
  const format = detected.format === 'anthropic' || detected.format === 'gemini' ? detected.format : 'openai';
  const provider = agent.provider ?? 'custom';
  const policy = modelPolicy(call);
  const created = new Date(0);
  const asked = detected.modelInPath;
  if (asked !== undefined) {
    const found = resolveModel(policy, asked, provider);
    if ('refuse' in found) return aiRefusal('model_not_allowed', found.description, { extra: { model: asked.slice(0, 200) } });
    return send(call, modelEntry(format, asked, provider, created));
  }
  return send(
    call,
    modelList(
      format,
      visibleModels(
        policy,
        pricedModels(provider, call.receivedAt, call.snapshot.aiPrices).map(({ model }) => model),
        provider,
      ),
      provider,
      created,
    ),
  );
}

function send(call: AiCall, body: object): typeof ANSWERED {
  sendWhole(call, { status: 200, contentType: 'application/json; charset=utf-8', headers: [], body: JSON.stringify(body) }, []);
  return ANSWERED;
}
