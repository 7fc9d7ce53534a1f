import { wayTo } from '#server/ai/providers/serve.ts';
import { estimatedInput } from '#server/ai/usage/usage.ts';
import { ANSWERED, type PhaseResult } from '../../core/plane.ts';
import { type AiCall, detectedOf } from '../ai-call.ts';
import { sentTo } from '../money/sent.ts';
import { sendWhole } from './whole.ts';

/** Whether the call counts tokens in a shape that its provider doesn't speak. */
export function countsHere(call: AiCall): boolean {
  const { agent, model } = call.state;
  const detected = detectedOf(call);
  if (detected.operation !== 'count_tokens') return false;
  const way = wayTo(agent?.provider ?? null, detected, model?.final ?? '');
  return 'kind' in way && way.kind === 'estimate';
}

/** The count of tokens by our own estimate, which a warning says; the provider isn't asked and nothing is charged. */
export function countTokens(call: AiCall): PhaseResult {
  call.state.warnings.push('tokens_estimated');
  const { adapter, body } = call.state;
  // Texts and tools alone: the bytes of a picture say nothing of its tokens.
  const texts = body && adapter ? adapter.texts(body).map(({ text }) => text) : [];
  const tools = body?.tools === undefined ? '' : JSON.stringify(body.tools);
  const textBytes = [...texts, tools].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const input_tokens = estimatedInput({ textBytes, images: sentTo(call).images });
  const counted = detectedOf(call).shape === 'anthropic' ? { input_tokens } : { object: 'response.input_tokens', input_tokens };
  sendWhole(call, { status: 200, contentType: 'application/json; charset=utf-8', headers: [], body: JSON.stringify(counted) }, []);
  return ANSWERED;
}
