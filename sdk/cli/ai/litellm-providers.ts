// Where a LiteLLM deployment is served, as a provider and a base URL of ours.

type Entry = Readonly<Record<string, unknown>>;
export type Place = { provider: string; upstream: string | null; model: string; note?: string };

/** Providers by the first word of a LiteLLM model. */
const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ['openai', 'openai'],
  ['text-completion-openai', 'openai'],
  ['anthropic', 'anthropic'],
  ['gemini', 'gemini'],
  ['cohere', 'cohere'],
  ['cohere_chat', 'cohere'],
  ['azure', 'azure-openai'],
  ['ollama', 'ollama'],
  ['ollama_chat', 'ollama'],
  ['groq', 'groq'],
  ['together_ai', 'together'],
  ['mistral', 'mistral'],
  ['deepseek', 'deepseek'],
  ['fireworks_ai', 'fireworks'],
  ['xai', 'xai'],
  ['bedrock', 'bedrock'],
  ['vertex_ai', 'vertex'],
  // Servers that people run themselves, with OpenAI's API.
  ...['hosted_vllm', 'vllm', 'openai_like', 'custom_openai', 'litellm_proxy', 'lm_studio', 'llamafile', 'xinference', 'infinity'].map(
    (name) => [name, 'openai-compatible'] as const,
  ),
]);
const NEEDS_UPSTREAM = new Set(['azure-openai', 'ollama', 'bedrock', 'vertex', 'openai-compatible']);
/** Their servers often have no key. */
const KEYLESS = new Set(['ollama', 'openai-compatible']);
export const needsKey = (provider: string): boolean => !KEYLESS.has(provider);

/** OpenAI's own models, which have its prices behind any base URL. */
const OPENAI_MODEL =
  /^(?:ft:|gpt-(?!oss)|chatgpt-|chat-latest|codex-|o\d|text-embedding-|omni-moderation|dall-e-|tts-|whisper-|sora-|computer-use-|daybreak-)/;
export const isOpenAiModel = (model: string): boolean => OPENAI_MODEL.test(model);

/** The provider, base URL and model of a deployment, or why there are none. */
export function placeOf(full: string, params: Entry): Place | string {
  const [first = '', ...rest] = full.split('/');
  const named = textOf(params.custom_llm_provider);
  const word = named ?? (rest.length === 0 ? 'openai' : first);
  const base = textOf(params.api_base) ?? textOf(params.base_url);
  const known = PROVIDERS.get(word);
  if (known === undefined) return `the provider ${word} isn’t one of ours`;
  const model = rest.length === 0 || (named !== undefined && PROVIDERS.get(first) === undefined) ? full : rest.join('/');
  // LiteLLM calls any server with OpenAI's API so. A proxy in front of OpenAI serves OpenAI's models, by a key.
  const isOwnServer = known === 'openai' && base !== undefined && (!isOpenAiModel(model) || params.api_key === undefined);
  const provider = isOwnServer ? 'openai-compatible' : known;
  if (model.includes('*')) return 'an agent takes any model by itself, without a wildcard: name one model to create the agent';
  const upstream = base ?? regionalAddress(provider, params);
  if (NEEDS_UPSTREAM.has(provider) && upstream === null) return `${provider} needs an api_base`;
  if (upstream !== null && !isPlainAddress(upstream)) return 'its api_base is not a plain address';
  if (!isOwnServer) return { provider, upstream, model };
  const why = isOpenAiModel(model) ? 'without an api_key' : 'with a model that isn’t OpenAI’s';
  const note = `a server ${why} is an agent of openai-compatible, whose calls have no price until you set one: PUT /v1/ai-gateway/prices/openai-compatible/${model}`;
  return { provider, upstream, model, note };
}

/** A host that the cloud's region names. */
function regionalAddress(provider: string, params: Entry): string | null {
  const region = textOf(provider === 'bedrock' ? params.aws_region_name : provider === 'vertex' ? params.vertex_location : undefined);
  if (region === undefined || !/^[a-z0-9-]{2,40}$/.test(region)) return null;
  if (provider === 'bedrock') return `https://bedrock-runtime.${region}.amazonaws.com`;
  return region === 'global' ? 'https://aiplatform.googleapis.com' : `https://${region}-aiplatform.googleapis.com`;
}

/** Without anything that could be a credential. */
function isPlainAddress(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  );
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
