import { isObject, type JsonObject, textAt } from '../json.ts';
import type { Detected } from '../shapes/detect.ts';
import type { Operation, Shape } from '../shapes/shape.ts';
import { type Provider, type ProviderCredential, providerOf } from './catalogue.ts';

/** How a request of one shape is served by a provider (spec/51 §6.1). */
export type Way = {
  /**
   * `native`: the body goes through. `door`: the same body at another path. `translate`: in another shape. `estimate`: answered here, since the provider
   * counts tokens in no shape of the caller's.
   */
  readonly kind: 'native' | 'door' | 'translate' | 'estimate';
  /** The shape that goes upstream. */
  readonly shape: Shape;
};

export type Unserved = { readonly refuse: 'shape_not_supported'; readonly description: string };

/** Shapes that a translation leads to, in order of preference. */
const TRANSLATIONS: readonly Shape[] = ['anthropic', 'openai-chat', 'bedrock-converse'];
/** Shapes that are translated, each with the operation that is. */
const TRANSLATED: ReadonlyMap<Shape, Operation> = new Map([
  ['openai-chat', 'chat'],
  ['openai-responses', 'responses'],
  ['anthropic', 'messages'],
]);

/** How a call is served. A route that was not composed for a provider (`null`) is taken to speak the shape of its callers. */
export function wayTo(
  provider: string | null,
  { shape, operation, storedId }: Pick<Detected, 'shape' | 'operation' | 'storedId'>,
  model: string,
): Way | Unserved {
  const known = provider === null ? undefined : providerOf(provider);
  if (!known) return { kind: 'native', shape };
  if (isNative(known, shape, model)) return { kind: 'native', shape };
  if (hasDoor(known, shape, model)) return { kind: 'door', shape };
  const target = TRANSLATIONS.find((one) => one !== shape && (isNative(known, one, model) || hasDoor(known, one, model)));
  if (target && storedId === undefined && TRANSLATED.get(shape) === operation) return { kind: 'translate', shape: target };
  if (target && operation === 'count_tokens' && TRANSLATED.has(shape)) return { kind: 'estimate', shape };
  return {
    refuse: 'shape_not_supported',
    description: `${known.label} does not speak ${shape}, and there is no translation of this call.`,
  };
}

/** Vertex AI serves Claude by Anthropic's shape and everything else by Google's. */
const isClaude = (model: string) => /^(?:publishers\/anthropic\/models\/)?claude/.test(model);

function isNative({ id, shapes }: Provider, shape: Shape, model: string): boolean {
  if (id === 'vertex') return shape === 'anthropic' ? isClaude(model) : shape === 'gemini';
  return shapes.includes(shape);
}

const hasDoor = ({ id, door }: Provider, shape: Shape, model: string) => door.includes(shape) && !(id === 'vertex' && isClaude(model));

/** Where a call goes at its provider: what {@link upstreamTarget} is told. */
export type Destination = {
  readonly provider: string | null;
  readonly way: Way;
  readonly detected: Pick<Detected, 'endpoint' | 'query'>;
  /** The final model. */
  readonly model: string;
  readonly stream: boolean;
  /** Path of the route's target, as `/openai` of Groq. */
  readonly base: string;
  /** Vertex AI only: of the service account and the host. */
  readonly vertex?: { readonly project: string; readonly location: string };
};

/** Path and query of the upstream request. */
export function upstreamTarget(to: Destination): string {
  const base = baseOf(to);
  const path = pathOf(to, base);
  const query = queryOf(to, base).toString();
  return query === '' ? path : `${path}?${query}`;
}

/**
 * What a provider's documentation gives as the base URL of one of its APIs: that end is left off, so that a base URL leads to each of its APIs. Longest first.
 */
const API_ENDS: Readonly<Record<string, readonly string[]>> = {
  gemini: ['/v1beta/openai', '/openai', '/v1beta'],
  vertex: ['/v1'],
  cohere: ['/compatibility/v1', '/v2', '/v1'],
  deepseek: ['/anthropic/v1', '/anthropic', '/v1'],
  ollama: ['/api', '/v1'],
};

function baseOf({ base: given, provider }: Destination): string {
  const base = given.endsWith('/') ? given.slice(0, -1) : given;
  const end = provider === null ? undefined : API_ENDS[provider]?.find((one) => base.endsWith(one));
  return end === undefined ? base : base.slice(0, -end.length);
}

function pathOf(to: Destination, base: string): string {
  const { way, model, provider, stream, vertex } = to;
  const segment = encodeURIComponent(model);
  switch (way.shape) {
    case 'gemini': {
      const name = encodeURIComponent(model.replace(/^(?:publishers\/google\/)?models\//, ''));
      const parent =
        provider === 'vertex' ? `/v1/${vertexPath(vertex)}/publishers/google` : /\/v1(?:beta1?|alpha)?$/.test(base) ? '' : '/v1beta';
      return `${base}${parent}/models/${name}${to.detected.endpoint}`;
    }
    case 'bedrock-converse':
      return `${base}/model/${segment}/${stream ? 'converse-stream' : 'converse'}`;
    case 'bedrock-invoke':
      return `${base}/model/${segment}/${stream ? 'invoke-with-response-stream' : 'invoke'}`;
    case 'cohere':
    case 'ollama':
      return `${base}${to.detected.endpoint}`;
    case 'anthropic':
      if (provider === 'vertex') {
        const counts = to.detected.endpoint.endsWith('/count_tokens');
        const name = counts ? 'count-tokens:rawPredict' : `${segment}:${stream ? 'streamRawPredict' : 'rawPredict'}`;
        return `${base}/v1/${vertexPath(vertex)}/publishers/anthropic/models/${name}`;
      }
      return `${base}${provider === 'deepseek' ? '/anthropic' : ''}${versioned(base)}${way.kind === 'translate' ? '/messages' : to.detected.endpoint}`;
    default:
      return `${openAiBase(to, base)}${way.kind === 'translate' ? '/chat/completions' : to.detected.endpoint}`;
  }
}

const versioned = (base: string) => (/\/v\d+$/.test(base) ? '' : '/v1');

function openAiBase({ provider, model, vertex, detected }: Destination, base: string): string {
  if (provider === 'gemini') return `${base}/v1beta/openai`;
  if (provider === 'vertex') return `${base}/v1/${vertexPath(vertex)}/endpoints/openapi`;
  if (provider === 'cohere') return `${base}/compatibility/v1`;
  if (provider !== 'azure-openai') return `${base}${versioned(base)}`;
  if (isAzureV1(detected.query, base)) return base.endsWith('/v1') ? base : `${base.replace(/\/openai$/, '')}/openai/v1`;
  const stored = /^\/(?:responses|files|conversations|containers|batches)/.test(detected.endpoint);
  return `${base.replace(/\/openai$/, '')}/openai${stored ? '' : `/deployments/${encodeURIComponent(model)}`}`;
}

/** Azure's v1 API takes OpenAI's paths; the older one wants the deployment in the path and a dated `api-version`. */
const isAzureV1 = (query: URLSearchParams, base: string) =>
  base.endsWith('/openai/v1') || ['v1', 'preview', null].includes(query.get('api-version'));

function vertexPath(vertex: Destination['vertex']): string {
  return `projects/${encodeURIComponent(vertex?.project ?? '')}/locations/${encodeURIComponent(vertex?.location ?? '')}`;
}

/** The caller's query belongs to the API that it speaks; at another one only Azure's version is kept. */
function queryOf({ way, detected, provider, stream }: Destination, base: string): URLSearchParams {
  const query = new URLSearchParams(way.kind === 'native' ? detected.query : '');
  if (way.shape === 'gemini') {
    query.delete('alt');
    // What Google lets any call say about its answer: other forms, or a part of it, such as one without the count of tokens.
    for (const name of [...query.keys()]) if (name.startsWith('$') || SYSTEM_PARAMETERS.has(name)) query.delete(name);
    // One JSON list is written from the same events, for a caller who wants that.
    if (stream) query.set('alt', 'sse');
  }
  if (provider === 'azure-openai' && base.endsWith('/openai/v1')) query.delete('api-version');
  return query;
}

const SYSTEM_PARAMETERS: ReadonlySet<string> = new Set([
  'fields',
  'callback',
  'prettyPrint',
  'oauth_token',
  'quotaUser',
  'uploadType',
  'upload_protocol',
]);

/** How the provider's key is sent for a shape: Google's OpenAI-compatible door wants it as a bearer token. */
export function credentialFor({ id, credential }: Provider, shape: Shape): ProviderCredential {
  return id === 'gemini' && shape !== 'gemini' ? { kind: 'header', name: 'Authorization', prefix: 'Bearer ' } : credential;
}

/** Last edits of a body for one provider's way of serving a shape. */
export function fitBody(provider: string | null, shape: Shape, body: JsonObject): void {
  if (provider !== 'vertex' || shape !== 'anthropic') return;
  body.anthropic_version ??= 'vertex-2023-10-16';
  delete body.model;
}

/**
 * Takes out an option that the provider's answer refuses by name, where a call does without it. True when the call can be tried again: older models of
 * Mistral know no `stream_options`.
 */
export function dropRefusedOption(provider: string | null, status: number, answer: string, body: JsonObject): boolean {
  if (provider !== 'mistral' || status !== 422 || !answer.includes('stream_options') || !isObject(body.stream_options)) return false;
  delete body.stream_options;
  return true;
}

/** The version of Anthropic's API that a call gets which named none. */
export const defaultHeaders = (provider: string | null): Readonly<Record<string, string>> =>
  provider === null ? {} : (providerOf(provider)?.headers ?? {});

/** The message of a provider's error answer, in whichever of the known forms it has; undefined when there is none. */
export function errorMessage(answer: unknown): string | undefined {
  const error = isObject(answer) ? answer.error : undefined;
  if (typeof error === 'string') return error;
  return textAt(error, 'message') ?? textAt(answer, 'message');
}
