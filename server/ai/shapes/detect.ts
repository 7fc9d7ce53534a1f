import { table } from '../json.ts';
import { type UpstreamPath, upstreamPath } from './path.ts';
import type { Operation, Shape } from './shape.ts';

/** What a request asks for, as its method, path and headers say it. */
export type Detected = {
  readonly shape: Shape;
  readonly operation: Operation;
  /** The path without the prefixes that SDKs put before it: `/chat/completions`, `/messages/count_tokens`, `/responses/resp_1`, `:generateContent`, `/converse`. */
  readonly endpoint: string;
  /** The model, where the path names it: Gemini, Bedrock, deployments of Azure, and look-ups of a model. */
  readonly modelInPath?: string;
  /** True when the path or `alt=sse` demands a stream. */
  readonly streamInPath: boolean;
  /** The id of a stored object that the path names; it must be one that the agent created. */
  readonly storedId?: string;
  /** For `models`: the format of the list. For Gemini streams: `json` asks for one JSON list instead of SSE. */
  readonly format?: 'openai' | 'anthropic' | 'gemini' | 'json';
  /** The caller's query without credentials. */
  readonly query: URLSearchParams;
};

/** Headers by which lists of models are told apart: Google's client asks at the path of OpenAI's. */
export type DetectionHeaders = { readonly 'anthropic-version'?: string | undefined; readonly 'x-goog-api-key'?: string | undefined };

export type Undetected = { readonly refuse: 'invalid_path' | 'unsupported_operation'; readonly description: string };

type Row = readonly [Shape, Operation];

const POSTS = table<Row>({
  '/chat/completions': ['openai-chat', 'chat'],
  '/completions': ['openai-completions', 'chat'],
  '/responses': ['openai-responses', 'responses'],
  '/responses/input_tokens': ['openai-responses', 'count_tokens'],
  '/embeddings': ['openai-embeddings', 'embeddings'],
  '/images/generations': ['openai-images', 'images'],
  '/images/edits': ['openai-images', 'images'],
  '/images/variations': ['openai-images', 'images'],
  '/audio/speech': ['openai-audio', 'audio'],
  '/audio/transcriptions': ['openai-audio', 'audio'],
  '/audio/translations': ['openai-audio', 'audio'],
  '/moderations': ['openai-moderations', 'moderations'],
  '/messages': ['anthropic', 'messages'],
  '/messages/count_tokens': ['anthropic', 'count_tokens'],
  '/v2/chat': ['cohere', 'chat'],
  '/v2/embed': ['cohere', 'embeddings'],
  '/v2/rerank': ['cohere', 'rerank'],
  '/api/chat': ['ollama', 'chat'],
  '/api/generate': ['ollama', 'chat'],
  '/api/embed': ['ollama', 'embeddings'],
});

const GEMINI_ACTIONS = table<Operation>({
  generateContent: 'generate',
  streamGenerateContent: 'generate',
  countTokens: 'count_tokens',
  embedContent: 'embeddings',
  batchEmbedContents: 'embeddings',
});

const BEDROCK_ACTIONS = table<Shape>({
  converse: 'bedrock-converse',
  'converse-stream': 'bedrock-converse',
  invoke: 'bedrock-invoke',
  'invoke-with-response-stream': 'bedrock-invoke',
});

/** What SDKs and their base URLs put before the path: `/v1`, `/openai/v1`, `/v1beta/openai`, `/anthropic/v1`, `/compatibility/v1`. */
const PREFIX = /^(?:\/openai|\/anthropic|\/compatibility|\/inference|\/v1beta\/openai)?(?:\/v1)?(?=\/)/;
const STORED_RESPONSE = /^\/responses\/([\w-]+)(\/cancel|\/input_items)?$/;
const STORED_OBJECT = /^\/(?:files|conversations|containers|batches)\/([\w-]+)(?:\/[\w-]+){0,3}$/;

/** Finds the shape and operation of a request by its path, query string included (spec/51 §6.1). */
export function detect(method: string, target: string, headers: DetectionHeaders): Detected | Undetected {
  const at = upstreamPath(target);
  if (!at)
    return { refuse: 'invalid_path', description: 'The path is ambiguous: remove `..`, `//`, `\\`, `@` and encoded slashes from it.' };
  const { path, query } = at;
  const suffix = path.replace(PREFIX, '');
  if (method === 'GET' || method === 'DELETE') {
    const models = method === 'GET' ? detectModels(at, suffix, headers) : undefined;
    return models ?? detectStored(method, suffix, query) ?? unsupported(method, path);
  }
  if (method !== 'POST') return unsupported(method, path);
  const row = POSTS.get(suffix) ?? POSTS.get(path);
  if (row) return { shape: row[0], operation: row[1], endpoint: POSTS.get(suffix) ? suffix : path, streamInPath: false, query };
  return detectInPath(at) ?? detectStored(method, suffix, query) ?? unsupported(method, path);
}

/** Shapes that name the model in their path. */
function detectInPath({ segments, path, query }: UpstreamPath): Detected | undefined {
  const deployment = /^\/openai\/deployments\/([\w.-]+)(\/.+)$/.exec(path);
  if (deployment) {
    const row = POSTS.get(deployment[2] as string);
    if (!row?.[0].startsWith('openai-')) return undefined;
    return {
      shape: row[0],
      operation: row[1],
      endpoint: deployment[2] as string,
      modelInPath: deployment[1] as string,
      streamInPath: false,
      query,
    };
  }
  if (segments[0] === 'model' && segments.length === 3) {
    const [, model = '', action = ''] = segments;
    const shape = BEDROCK_ACTIONS.get(action);
    if (!shape) return undefined;
    return { shape, operation: 'generate', endpoint: `/${action}`, modelInPath: model, streamInPath: action.endsWith('-stream'), query };
  }
  const last = segments.at(-1) ?? '';
  const colon = last.lastIndexOf(':');
  const action = last.slice(colon + 1);
  const operation = GEMINI_ACTIONS.get(action);
  if (colon < 1 || !operation || !leadsToGemini(segments.slice(0, -1))) return undefined;
  const streamInPath = action === 'streamGenerateContent';
  const format = streamInPath && query.get('alt') !== 'sse' ? ({ format: 'json' } as const) : {};
  return { shape: 'gemini', operation, endpoint: `:${action}`, modelInPath: last.slice(0, colon), streamInPath, query, ...format };
}

/** Whether these segments lead to a model of the Gemini API, or to a publisher's of Vertex AI, with and without a project. */
function leadsToGemini([version = '', ...parents]: readonly string[]): boolean {
  if (!/^v1(?:beta1?|alpha)?$/.test(version)) return false;
  const [projects, , locations, , ...rest] = parents;
  const publisher = projects === 'projects' && locations === 'locations' ? rest : parents;
  return publisher.join('/') === 'models' || publisher.join('/') === 'publishers/google/models';
}

function detectModels({ segments, path, query }: UpstreamPath, suffix: string, headers: DetectionHeaders): Detected | undefined {
  const gemini = /^\/v1(?:beta1?|alpha)\/models(?:\/|$)/.test(path) || headers['x-goog-api-key'] !== undefined;
  if (!/^\/v1(?:beta1?|alpha)?\/models(?:\/|$)/.test(path) && suffix !== '/models' && !suffix.startsWith('/models/')) return undefined;
  const index = segments.indexOf('models');
  // A model named `publisher/name` comes encoded or plain.
  const model = segments.slice(index + 1).join('/');
  const format = gemini ? 'gemini' : headers['anthropic-version'] === undefined ? 'openai' : 'anthropic';
  return {
    shape: 'models',
    operation: 'models',
    endpoint: '/models',
    streamInPath: false,
    query,
    format,
    ...(model && { modelInPath: model }),
  };
}

/** Objects that the provider keeps between calls, each by its id: a list would show what other agents of the account stored. */
function detectStored(method: string, suffix: string, query: URLSearchParams): Detected | undefined {
  const response = STORED_RESPONSE.exec(suffix);
  if (response) {
    const [, storedId = '', rest] = response;
    if ((method === 'POST') !== (rest === '/cancel') || (method === 'DELETE' && rest !== undefined)) return undefined;
    const streamInPath = query.get('stream') === 'true';
    return { shape: 'openai-responses', operation: 'responses', endpoint: suffix, storedId, streamInPath, query };
  }
  const stored = method === 'GET' ? STORED_OBJECT.exec(suffix) : null;
  return stored
    ? { shape: 'openai-stored', operation: 'other', endpoint: suffix, storedId: stored[1] as string, streamInPath: false, query }
    : undefined;
}

function unsupported(method: string, path: string): Undetected {
  return { refuse: 'unsupported_operation', description: `${method} ${path.slice(0, 200)} is not an operation that this gateway serves.` };
}
