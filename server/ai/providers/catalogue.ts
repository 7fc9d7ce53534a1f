import type { Shape } from '../shapes/shape.ts';

/** How the provider's key reaches it: one header around the secret, an AWS signature, or a token of a Google service account. */
export type ProviderCredential =
  | { readonly kind: 'header'; readonly name: string; readonly prefix: '' | 'Bearer '; readonly optional?: true }
  | { readonly kind: 'aws_sigv4'; readonly service: 'bedrock' }
  | { readonly kind: 'google_service_account' };

export type Provider = {
  readonly id: string;
  readonly label: string;
  /** Where it is served unless an agent has a base URL of its own (`upstream`); null when every tenant has its own. */
  readonly origin: string | null;
  readonly credential: ProviderCredential;
  /** Headers sent unless the caller sent them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Shapes that it speaks itself, so that a body is passed through. */
  readonly shapes: readonly Shape[];
  /** Shapes that it serves by its OpenAI-compatible door, at another path. */
  readonly door: readonly Shape[];
  /** The default model of an agent composed for it; null when the agent must name one. */
  readonly defaultModel: string | null;
};

const bearer = { kind: 'header', name: 'Authorization', prefix: 'Bearer ' } as const;
const plain = (name: string) => ({ kind: 'header', name, prefix: '' }) as const;
const OPENAI: readonly Shape[] = [
  'openai-chat',
  'openai-completions',
  'openai-responses',
  'openai-embeddings',
  'openai-images',
  'openai-audio',
  'openai-moderations',
  'openai-stored',
];
const COMPATIBLE: readonly Shape[] = ['openai-chat', 'openai-completions', 'openai-embeddings'];
const DOOR: readonly Shape[] = ['openai-chat', 'openai-embeddings'];

/** Every provider an agent can be composed for (spec/50 §5.3), in the order in which pages show them. */
export const PROVIDERS: readonly Provider[] = [
  provider('openai', 'OpenAI', 'https://api.openai.com', bearer, OPENAI, 'gpt-5.4-mini'),
  provider('anthropic', 'Anthropic', 'https://api.anthropic.com', plain('x-api-key'), ['anthropic'], 'claude-sonnet-5', {
    headers: { 'anthropic-version': '2023-06-01' },
  }),
  provider(
    'gemini',
    'Google Gemini',
    'https://generativelanguage.googleapis.com',
    plain('x-goog-api-key'),
    ['gemini'],
    'gemini-3.5-flash',
    {
      door: DOOR,
    },
  ),
  provider('azure-openai', 'Azure OpenAI', null, plain('api-key'), OPENAI, null),
  provider(
    'bedrock',
    'Amazon Bedrock',
    null,
    { kind: 'aws_sigv4', service: 'bedrock' },
    ['bedrock-converse', 'bedrock-invoke'],
    'amazon.nova-pro-v1:0',
  ),
  provider('vertex', 'Google Vertex AI', null, { kind: 'google_service_account' }, ['gemini', 'anthropic'], 'gemini-3.5-flash', {
    door: ['openai-chat'],
  }),
  provider('mistral', 'Mistral', 'https://api.mistral.ai', bearer, DOOR, 'mistral-small-latest'),
  provider(
    'groq',
    'Groq',
    'https://api.groq.com/openai',
    bearer,
    [...COMPATIBLE, 'openai-responses', 'openai-audio'],
    'llama-3.3-70b-versatile',
  ),
  provider(
    'together',
    'Together AI',
    'https://api.together.xyz',
    bearer,
    [...COMPATIBLE, 'openai-images', 'openai-audio'],
    'openai/gpt-oss-120b',
  ),
  provider('deepseek', 'DeepSeek', 'https://api.deepseek.com', bearer, ['openai-chat', 'openai-completions', 'anthropic'], 'deepseek-chat'),
  provider(
    'fireworks',
    'Fireworks AI',
    'https://api.fireworks.ai/inference',
    bearer,
    [...COMPATIBLE, 'openai-responses'],
    'accounts/fireworks/models/llama-v3p3-70b-instruct',
  ),
  provider('xai', 'xAI', 'https://api.x.ai', bearer, [...COMPATIBLE, 'openai-responses', 'openai-images'], 'grok-4.20'),
  provider('cohere', 'Cohere', 'https://api.cohere.com', bearer, ['cohere'], 'command-r-plus', { door: DOOR }),
  provider('ollama', 'Ollama', null, { ...bearer, optional: true }, ['ollama'], null, { door: COMPATIBLE }),
  provider('openai-compatible', 'OpenAI-compatible', null, { ...bearer, optional: true }, OPENAI, null),
];

const byId: ReadonlyMap<string, Provider> = new Map(PROVIDERS.map((one) => [one.id, one]));

/** The provider of an agent or route by its id; undefined for a route that was not composed ("custom"). */
export const providerOf = (id: string): Provider | undefined => byId.get(id);

/** Whether it answers nobody without a key; servers that people run themselves often have none. */
export const needsSecret = ({ credential }: Provider): boolean => credential.kind !== 'header' || credential.optional !== true;

/** Header templates of a composed route; `reference` is what stands for the secret, as `{{secret_id:<uuid>}}`. Signed credentials have none. */
export function headerTemplate({ credential }: Provider, reference: string): Record<string, string> {
  return credential.kind === 'header' ? { [credential.name]: `${credential.prefix}${reference}` } : {};
}

function provider(
  id: string,
  label: string,
  origin: string | null,
  credential: ProviderCredential,
  shapes: readonly Shape[],
  defaultModel: string | null,
  more: { headers?: Readonly<Record<string, string>>; door?: readonly Shape[] } = {},
): Provider {
  return { id, label, origin, credential, headers: more.headers ?? {}, shapes, door: more.door ?? [], defaultModel };
}
