import { textAt } from '#server/ai/json.ts';
import { wayTo } from '#server/ai/providers/serve.ts';
import { type ImageRequest, imageRequest } from '#server/ai/usage/image-request.ts';
import { namedTier } from '#server/ai/usage/tier.ts';
import type { Sent, ServiceTier } from '#server/ai/usage/usage.ts';
import { type AiCall, detectedOf } from '../ai-call.ts';

/** What was sent, for an estimate. */
export function sentTo(call: AiCall): Sent {
  const { adapter, body } = call.state;
  const { operation, endpoint } = detectedOf(call);
  // A recording has a length: its bytes are no text.
  if (operation === 'audio' && body === null) return { textBytes: 0, images: 0, audioBytes: call.requestBytes };
  const makes = imagesOf(call);
  // Pictures to edit are counted by themselves, whatever their bytes.
  if (makes) return { textBytes: call.state.upload?.textBytes ?? Buffer.byteLength(textAt(body, 'prompt') ?? ''), images: 0, makes };
  const images = body && adapter ? adapter.images(body) : 0;
  const spoken = endpoint.endsWith('/audio/speech') && body ? textAt(body, 'input') : undefined;
  return { textBytes: call.requestBytes, images, ...(spoken === undefined ? {} : { characters: spoken.length }) };
}

/** The images that a call asks for; undefined for every other call. */
export function imagesOf(call: AiCall): ImageRequest | undefined {
  const { upload, body } = call.state;
  return detectedOf(call).operation === 'images' ? (upload?.images ?? imageRequest(body ?? {})) : undefined;
}

/** The processing tier that a request asks a provider for; a translated one asks for none. */
export function requestedTier(call: AiCall, provider: string, model: string): ServiceTier | undefined {
  const way = wayTo(provider, detectedOf(call), model);
  return 'refuse' in way || way.kind === 'translate' ? undefined : namedTier(call.state.body);
}

/** The tier that counts until the answer says in which one it was processed: a cheaper one counts only when the answer says so. */
export const dearerTier = (tier: ServiceTier | undefined): 'priority' | undefined => (tier === 'priority' ? tier : undefined);
