/** Shapes of calls that are translated where a provider doesn't speak them. */
export type ClientShape = 'openai-chat' | 'anthropic' | 'openai-responses';
/** Shapes that they are translated into. */
export type UpstreamShape = 'openai-chat' | 'anthropic' | 'bedrock-converse';
