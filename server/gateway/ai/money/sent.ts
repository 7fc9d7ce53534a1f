import { textAt } from '#server/ai/json.ts';
import type { Sent } from '#server/ai/usage/usage.ts';
import { type AiCall, detectedOf } from '../ai-call.ts';

/** What was sent, for an estimate. */
export function sentTo(call: AiCall): Sent {
  const { adapter, body } = call.state;
  const { operation, endpoint } = detectedOf(call);
  // A recording has a length: its bytes are no text.
  if (operation === 'audio' && body === null) return { textBytes: 0, images: 0, audioBytes: call.requestBytes };
  const images = body && adapter ? adapter.images(body) : 0;
  const spoken = endpoint.endsWith('/audio/speech') && body ? textAt(body, 'input') : undefined;
  return { textBytes: call.requestBytes, images, ...(spoken === undefined ? {} : { characters: spoken.length }) };
}

/** The dearer tier of a request, which counts until the answer says in which tier it was processed; a cheaper one counts only when the answer says so. */
export function requestedTier(call: AiCall): 'priority' | undefined {
  return textAt(call.state.body, 'service_tier') === 'priority' ? 'priority' : undefined;
}
