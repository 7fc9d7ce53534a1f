import { prependSystem } from '#server/ai/shapes/system-prefix.ts';
import type { Runtime } from '../../core/runtime.ts';
import { openControls } from '../../governance/controls/call-controls.ts';
import { type AiRefused, aiRefusal } from '../../governance/envelope.ts';
import { type AiCall, detectedOf } from '../ai-call.ts';
import { planCache } from '../cache/plan.ts';
import { uploadText } from '../uploads.ts';

const PROMPTED: ReadonlySet<string> = new Set(['chat', 'messages', 'responses', 'generate', 'count_tokens']);

/** Steps 10 to 12: the prompt firewall and the canary, personal data, and the guardrail, which sees the prompt after it. Without them nothing leaves. */
export async function control(call: AiCall, runtime: Runtime): Promise<AiRefused | undefined> {
  const { state, snapshot } = call;
  const { agent, gateway, principal, adapter, body, model } = state;
  const detected = detectedOf(call);
  if (!agent || !gateway || !principal) return aiRefusal('missing_auth', 'The call was not authenticated.');
  if (detected.shape === 'models' || !adapter) return undefined;
  const text = state.multipart && call.body !== null ? uploadText(call.body, call.contentType) : '';
  if (text === undefined) return aiRefusal('invalid_request_body', 'The Content-Type of the upload must name one boundary.');
  // Before everything that judges prompts: they see what the provider will see.
  const prefix = detected.storedId === undefined && PROMPTED.has(detected.operation) ? agent.enforced_system_prefix : null;
  if (prefix && body !== null && !prependSystem(adapter, body, prefix))
    return aiRefusal(
      'shape_not_supported',
      'This agent begins every prompt with a text of its own, which this kind of request has no place for.',
    );
  // The fields of an upload can be judged, and not changed.
  const judged = state.multipart ? { prompt: text } : (body ?? {});
  const controls = await openControls(
    {
      runtime,
      snapshot,
      requestId: call.requestId,
      agent,
      gateway: { id: gateway.id, slug: gateway.slug },
      tokenId: principal.token.id,
      user: principal.user?.externalId ?? null,
      model: model?.final ?? '',
      provider: agent.provider,
      operation: detected.operation,
      conversation: state.conversationId,
      warnings: state.warnings,
      onPlain: agent.cache_mode === 'off' ? undefined : (plain) => planCache(call, plain),
    },
    adapter,
    judged,
  );
  state.controls = controls;
  if (controls.refusal) return controls.refusal;
  return state.multipart && judged.prompt !== text
    ? aiRefusal('pii_unavailable', "The upload holds personal data in its fields, which can't be replaced there.")
    : undefined;
}
