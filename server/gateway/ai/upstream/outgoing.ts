import { vertexLocation } from '#server/ai/providers/region.ts';
import { type Destination, fitBody, type Unserved, upstreamTarget, type Way, wayTo } from '#server/ai/providers/serve.ts';
import { askForUsage } from '#server/ai/shapes/openai-chat.ts';
import type { RefusedRequest } from '#server/ai/translate/options.ts';
import { type Translation, translation } from '#server/ai/translate/translation.ts';
import { copyJson } from '#server/kernel/lossless-json.ts';
import type { Target } from '#server/platform/http-out/target-url.ts';
import { type AiCall, detectedOf } from '../ai-call.ts';
import { withUploadModel } from '../uploads.ts';

/** What is sent to one provider for a call. */
export type Outgoing = {
  readonly way: Way;
  readonly model: string;
  readonly body: Buffer | null;
  /** Headers of the caller's shape that mean nothing to this provider. */
  readonly dropped: ReadonlySet<string>;
  /** Of the answer, back into the caller's shape; null where it is the caller's already. */
  readonly translation: Translation | null;
  /** Path and query, once the target of the route is known; `project` is Vertex AI's, of the service account. */
  target(at: Target, project: string): string;
};

const NONE: ReadonlySet<string> = new Set();
/** Headers that say something in one shape only. */
export const OF_SHAPES: ReadonlySet<string> = new Set([
  'anthropic-version',
  'anthropic-beta',
  'openai-beta',
  'openai-project',
  'x-goog-api-client',
]);

/** `own` is the body that the caller sent, which an upload goes out as. */
type To = { readonly provider: string; readonly model: string; readonly own: Buffer | null };

/** The request in the shape of a provider, written once for all attempts at it. What one provider wants changed reaches no other. */
export function outgoingFor(call: AiCall, { provider, model, own }: To): Outgoing | Unserved | RefusedRequest {
  const { state } = call;
  const detected = detectedOf(call);
  const known = provider === 'custom' ? null : provider;
  const way = wayTo(known, detected, model);
  if ('refuse' in way) return way;
  if (way.kind === 'estimate') return { refuse: 'shape_not_supported', description: 'This provider counts no tokens of such a request.' };
  let body = own;
  const translated = way.kind === 'translate' ? translate(call, known, way, model) : null;
  if (translated !== null && 'refuse' in translated) return translated;
  if (translated !== null) body = translated.body;
  else if (state.body !== null) {
    const written = { ...state.body };
    // Also where the path names it: what the body says besides is never another model.
    if (model !== '') state.adapter?.setModel(written, model);
    if (way.shape === 'openai-chat' && state.stream) {
      const asked = askForUsage(written);
      state.hidesUsage ??= !asked;
    }
    fitBody(known, way.shape, written);
    body = Buffer.from(JSON.stringify(written));
  } else if (state.multipart && body !== null && state.model && state.model.requested !== model) body = withUploadModel(body, model);
  return {
    way,
    model,
    body,
    dropped: translated === null ? NONE : OF_SHAPES,
    translation: translated?.translation ?? null,
    target: targetOf({ provider: known, way, detected, model, stream: state.stream }),
  };
}

/** Path and query at a provider, once it is known where its route leads. */
export const targetOf =
  (to: Omit<Destination, 'base' | 'vertex'>) =>
  (at: Target, project: string): string =>
    upstreamTarget({ ...to, base: at.path, vertex: { project, location: vertexLocation(at.host) } });

/** The request in another shape (interface rule 51 §6.2, §6.3). The caller's own body stays as it is, for a candidate that speaks its shape. */
function translate(
  call: AiCall,
  provider: string | null,
  { shape }: Way,
  model: string,
): { body: Buffer; translation: Translation } | RefusedRequest {
  const { state } = call;
  const detected = detectedOf(call);
  const from = detected.shape === 'anthropic' || detected.shape === 'openai-responses' ? detected.shape : 'openai-chat';
  const to = shape === 'anthropic' || shape === 'bedrock-converse' ? shape : 'openai-chat';
  const now = new Date(call.receivedAt);
  const made = translation(from, to, {
    model,
    provider,
    requestId: call.requestId,
    now,
    ceiling: state.ceiling ?? undefined,
    unsupported: state.agent?.unsupported,
  });
  const request = made.request(copyJson(state.body ?? {}));
  if ('refuse' in request) return request;
  for (const warning of request.warnings) if (!state.warnings.includes(warning)) state.warnings.push(warning);
  fitBody(provider, shape, request.body);
  return { body: Buffer.from(JSON.stringify(request.body)), translation: made };
}
