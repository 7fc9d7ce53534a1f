import type { Adapter } from './adapter.ts';
import { anthropic } from './anthropic.ts';
import { bedrockConverse } from './bedrock-converse.ts';
import { bedrockInvoke } from './bedrock-invoke.ts';
import { cohere } from './cohere.ts';
import { gemini } from './gemini.ts';
import { ollama } from './ollama.ts';
import { openAiChat } from './openai-chat.ts';
import { openAiResponses } from './openai-responses.ts';
import { openAiAudio, openAiCompletions, openAiEmbeddings, openAiImages, openAiModerations } from './openai-simple.ts';
import { plainAdapter } from './plain.ts';
import type { Shape } from './shape.ts';

const ADAPTERS: Readonly<Record<Shape, Adapter>> = {
  'openai-chat': openAiChat,
  'openai-completions': openAiCompletions,
  'openai-responses': openAiResponses,
  'openai-embeddings': openAiEmbeddings,
  'openai-images': openAiImages,
  'openai-audio': openAiAudio,
  'openai-moderations': openAiModerations,
  // Objects that a provider keeps are passed on unread; lists of models are made here.
  'openai-stored': plainAdapter('openai-stored', {}),
  models: plainAdapter('models', {}),
  anthropic,
  gemini,
  'bedrock-converse': bedrockConverse,
  'bedrock-invoke': bedrockInvoke,
  cohere,
  ollama,
};

/** The grammar of a shape. */
export const adapterOf = (shape: Shape): Adapter => ADAPTERS[shape];
