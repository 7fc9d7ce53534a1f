/** The wire format of a call, as its client speaks it or as a provider does (spec/51 §6.1). */
export type Shape =
  | 'openai-chat'
  | 'openai-completions'
  | 'openai-responses'
  | 'openai-embeddings'
  | 'openai-images'
  | 'openai-audio'
  | 'openai-moderations'
  | 'openai-stored'
  | 'anthropic'
  | 'gemini'
  | 'bedrock-converse'
  | 'bedrock-invoke'
  | 'cohere'
  | 'ollama'
  | 'models';

/** What a token's `scope.operations` names (spec/50 §6.3). */
export const OPERATIONS = [
  'chat',
  'responses',
  'messages',
  'embeddings',
  'generate',
  'count_tokens',
  'models',
  'images',
  'audio',
  'moderations',
  'rerank',
  'other',
] as const;
export type Operation = (typeof OPERATIONS)[number];
