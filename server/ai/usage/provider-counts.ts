import { countAt, isObject, type JsonObject, objectsOf, textAt } from '../json.ts';
import { noUsage, type Usage } from './usage.ts';

// Counts of each provider (spec/51 §9.1) in our classes. A part that claims to be larger than its whole is cut to it; an object without one believable
// count gives undefined, and the call is estimated.

/** OpenAI chat, completions and embeddings, and who speaks like them; DeepSeek names its cached part otherwise. */
export function openAiUsage(usage: unknown): Usage | undefined {
  const prompt = countAt(usage, 'prompt_tokens');
  const completion = countAt(usage, 'completion_tokens');
  if (!isObject(usage) || (prompt === undefined && completion === undefined)) return undefined;
  const cached = countAt(usage.prompt_tokens_details, 'cached_tokens') ?? countAt(usage, 'prompt_cache_hit_tokens') ?? 0;
  const written = countAt(usage.prompt_tokens_details, 'cache_write_tokens') ?? 0;
  const counted = withParts(
    prompt ?? 0,
    cached,
    written,
    completion ?? 0,
    countAt(usage.completion_tokens_details, 'reasoning_tokens') ?? 0,
  );
  return { ...counted, output_image: Math.min(counted.output_text, countAt(usage.completion_tokens_details, 'image_tokens') ?? 0) };
}

export function responsesUsage(usage: unknown): Usage | undefined {
  const input = countAt(usage, 'input_tokens');
  const output = countAt(usage, 'output_tokens');
  if (!isObject(usage) || (input === undefined && output === undefined)) return undefined;
  const cached = countAt(usage.input_tokens_details, 'cached_tokens') ?? 0;
  const written = countAt(usage.input_tokens_details, 'cache_write_tokens') ?? 0;
  return withParts(input ?? 0, cached, written, output ?? 0, countAt(usage.output_tokens_details, 'reasoning_tokens') ?? 0);
}

/**
 * OpenAI's image models count the tokens of pictures apart from those of text. Where an answer doesn't split its counts, all of them count as pictures, the
 * dearer kind.
 */
export function imagesUsage(usage: unknown): Usage | undefined {
  const counted = responsesUsage(usage);
  if (!counted || !isObject(usage)) return undefined;
  return {
    ...counted,
    input_image: Math.min(counted.input_uncached, picturesIn(usage.input_tokens_details, counted.input_uncached)),
    output_image: Math.min(counted.output_text, picturesIn(usage.output_tokens_details, counted.output_text)),
  };
}

const picturesIn = (details: unknown, all: number): number =>
  countAt(details, 'image_tokens') ?? all - (countAt(details, 'text_tokens') ?? 0);

/** Anthropic: `input_tokens` leaves out both cache counts. */
export function anthropicUsage(usage: unknown): Usage | undefined {
  const input = countAt(usage, 'input_tokens');
  const output = countAt(usage, 'output_tokens');
  if (!isObject(usage) || (input === undefined && output === undefined)) return undefined;
  const written = countAt(usage, 'cache_creation_input_tokens') ?? 0;
  const anHour = Math.min(written, countAt(usage.cache_creation, 'ephemeral_1h_input_tokens') ?? 0);
  const reasoning = Math.min(output ?? 0, countAt(usage.output_tokens_details, 'thinking_tokens') ?? 0);
  return {
    ...noUsage,
    input_uncached: input ?? 0,
    input_cached: countAt(usage, 'cache_read_input_tokens') ?? 0,
    cache_write_5m: written - anHour,
    cache_write_1h: anHour,
    output_text: (output ?? 0) - reasoning,
    reasoning,
    requests_web_search: countAt(usage.server_tool_use, 'web_search_requests') ?? 0,
  };
}

export function geminiUsage(usage: unknown): Usage | undefined {
  const prompt = countAt(usage, 'promptTokenCount');
  const candidates = countAt(usage, 'candidatesTokenCount');
  if (!isObject(usage) || (prompt === undefined && candidates === undefined)) return undefined;
  const cached = Math.min(prompt ?? 0, countAt(usage, 'cachedContentTokenCount') ?? 0);
  const drawn = objectsOf(usage.candidatesTokensDetails)
    .filter(({ modality }) => modality === 'IMAGE')
    .reduce((sum, detail) => sum + (countAt(detail, 'tokenCount') ?? 0), 0);
  return {
    ...noUsage,
    input_uncached: (prompt ?? 0) - cached + (countAt(usage, 'toolUsePromptTokenCount') ?? 0),
    input_cached: cached,
    output_text: candidates ?? 0,
    output_image: Math.min(candidates ?? 0, drawn),
    reasoning: countAt(usage, 'thoughtsTokenCount') ?? 0,
  };
}

/** Bedrock Converse: `inputTokens` leaves out the cache counts; `cacheDetails` splits the writes by their time to live. */
export function converseUsage(usage: unknown): Usage | undefined {
  const input = countAt(usage, 'inputTokens');
  const output = countAt(usage, 'outputTokens');
  if (!isObject(usage) || (input === undefined && output === undefined)) return undefined;
  const written = countAt(usage, 'cacheWriteInputTokens') ?? 0;
  const hourly = objectsOf(usage.cacheDetails).filter((detail) => textAt(detail, 'ttl') === '1h');
  const anHour = Math.min(
    written,
    hourly.reduce((sum, detail) => sum + (countAt(detail, 'inputTokens') ?? 0), 0),
  );
  return {
    ...noUsage,
    input_uncached: input ?? 0,
    input_cached: countAt(usage, 'cacheReadInputTokens') ?? 0,
    cache_write_5m: written - anHour,
    cache_write_1h: anHour,
    output_text: output ?? 0,
  };
}

/** Bedrock InvokeModel's own counts: `amazon-bedrock-invocationMetrics` of the last chunk. */
export function invocationUsage(metrics: unknown): Usage | undefined {
  const input = countAt(metrics, 'inputTokenCount');
  const output = countAt(metrics, 'outputTokenCount');
  if (input === undefined && output === undefined) return undefined;
  return { ...noUsage, input_uncached: input ?? 0, output_text: output ?? 0 };
}

/** Cohere bills `billed_units`; `tokens` also counts its own templates. */
export function cohereUsage(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const counted: unknown = isObject(usage.billed_units) ? usage.billed_units : usage.tokens;
  const input = countAt(counted, 'input_tokens');
  const output = countAt(counted, 'output_tokens');
  const searches = countAt(usage.billed_units, 'search_units');
  if (input === undefined && output === undefined && searches === undefined) return undefined;
  return { ...noUsage, input_uncached: input ?? 0, output_text: output ?? 0, requests_web_search: searches ?? 0 };
}

export function ollamaUsage(answer: JsonObject): Usage | undefined {
  const input = countAt(answer, 'prompt_eval_count');
  const output = countAt(answer, 'eval_count');
  if (input === undefined && output === undefined) return undefined;
  return { ...noUsage, input_uncached: input ?? 0, output_text: output ?? 0 };
}

function withParts(input: number, cached: number, written: number, output: number, reasoning: number): Usage {
  const fromCache = Math.min(cached, input);
  const toCache = Math.min(written, input - fromCache);
  const thought = Math.min(reasoning, output);
  return {
    ...noUsage,
    input_uncached: input - fromCache - toCache,
    input_cached: fromCache,
    cache_write_5m: toCache,
    output_text: output - thought,
    reasoning: thought,
  };
}
