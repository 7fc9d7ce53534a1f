import { countAt, isObject, type JsonObject, numberAt, objectsOf, textAt } from '../json.ts';
import { countOf, readCounts } from './read-counts.ts';
import { noUsage, type Usage } from './usage.ts';

// Counts of each provider (spec/51 §9.1) in our classes. A part that claims to be larger than its whole is cut to it; an object without one believable
// count gives undefined, and the call is estimated; where one side of a call has a count that can't be true, that side is (`read-counts.ts`).

/** OpenAI chat, completions and embeddings, and who speaks like them; DeepSeek names its cached part otherwise. */
export function openAiUsage(usage: unknown): Usage | undefined {
  const { at, noted } = readCounts();
  const prompt = at('input', usage, 'prompt_tokens');
  const completion = at('output', usage, 'completion_tokens');
  if (!isObject(usage) || (prompt === undefined && completion === undefined)) return undefined;
  const details = usage.prompt_tokens_details;
  const cached = at('input', details, 'cached_tokens') ?? at('input', usage, 'prompt_cache_hit_tokens') ?? 0;
  const written = at('input', details, 'cache_write_tokens') ?? 0;
  const reasoning = at('output', usage.completion_tokens_details, 'reasoning_tokens') ?? 0;
  const drawn = at('output', usage.completion_tokens_details, 'image_tokens') ?? 0;
  const counted = withParts(prompt ?? 0, cached, written, completion ?? 0, reasoning);
  return noted({ ...counted, output_image: Math.min(counted.output_text, drawn) });
}

export function responsesUsage(usage: unknown): Usage | undefined {
  const { at, noted } = readCounts();
  const input = at('input', usage, 'input_tokens');
  const output = at('output', usage, 'output_tokens');
  if (!isObject(usage) || (input === undefined && output === undefined)) return undefined;
  const cached = at('input', usage.input_tokens_details, 'cached_tokens') ?? 0;
  const written = at('input', usage.input_tokens_details, 'cache_write_tokens') ?? 0;
  const reasoning = at('output', usage.output_tokens_details, 'reasoning_tokens') ?? 0;
  return noted(withParts(input ?? 0, cached, written, output ?? 0, reasoning));
}

/** A transcription: tokens, or seconds, which older models report beside the text. Begun seconds count. */
export function transcriptionUsage(answer: JsonObject): Usage | undefined {
  const { usage } = answer;
  const tokens = responsesUsage(usage);
  const lengths = [numberAt(usage, 'seconds'), numberAt(answer, 'duration')].filter((one) => one !== undefined);
  const seconds = lengths.map(countOf).find((one) => one !== undefined && one > 0);
  if (seconds !== undefined) return { ...(tokens ?? noUsage), seconds_audio: Math.ceil(seconds) };
  return tokens;
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
  const { at, noted } = readCounts();
  const input = at('input', usage, 'input_tokens');
  const output = at('output', usage, 'output_tokens');
  if (!isObject(usage) || (input === undefined && output === undefined)) return undefined;
  const written = at('input', usage, 'cache_creation_input_tokens') ?? 0;
  const anHour = Math.min(written, at('input', usage.cache_creation, 'ephemeral_1h_input_tokens') ?? 0);
  const reasoning = Math.min(output ?? 0, at('output', usage.output_tokens_details, 'thinking_tokens') ?? 0);
  return noted({
    ...noUsage,
    input_uncached: input ?? 0,
    input_cached: at('input', usage, 'cache_read_input_tokens') ?? 0,
    cache_write_5m: written - anHour,
    cache_write_1h: anHour,
    output_text: (output ?? 0) - reasoning,
    reasoning,
    requests_web_search: at('output', usage.server_tool_use, 'web_search_requests') ?? 0,
  });
}

export function geminiUsage(usage: unknown): Usage | undefined {
  const { at, noted } = readCounts();
  const prompt = at('input', usage, 'promptTokenCount');
  const candidates = at('output', usage, 'candidatesTokenCount');
  if (!isObject(usage) || (prompt === undefined && candidates === undefined)) return undefined;
  const cached = Math.min(prompt ?? 0, at('input', usage, 'cachedContentTokenCount') ?? 0);
  const drawn = objectsOf(usage.candidatesTokensDetails)
    .filter(({ modality }) => modality === 'IMAGE')
    .reduce((sum, detail) => sum + (at('output', detail, 'tokenCount') ?? 0), 0);
  return noted({
    ...noUsage,
    input_uncached: (prompt ?? 0) - cached + (at('input', usage, 'toolUsePromptTokenCount') ?? 0),
    input_cached: cached,
    output_text: candidates ?? 0,
    output_image: Math.min(candidates ?? 0, drawn),
    reasoning: at('output', usage, 'thoughtsTokenCount') ?? 0,
  });
}

/** Bedrock Converse: `inputTokens` leaves out the cache counts; `cacheDetails` splits the writes by their time to live. */
export function converseUsage(usage: unknown): Usage | undefined {
  const { at, noted } = readCounts();
  const input = at('input', usage, 'inputTokens');
  const output = at('output', usage, 'outputTokens');
  if (!isObject(usage) || (input === undefined && output === undefined)) return undefined;
  const written = at('input', usage, 'cacheWriteInputTokens') ?? 0;
  const hourly = objectsOf(usage.cacheDetails).filter((detail) => textAt(detail, 'ttl') === '1h');
  const anHour = Math.min(
    written,
    hourly.reduce((sum, detail) => sum + (at('input', detail, 'inputTokens') ?? 0), 0),
  );
  return noted({
    ...noUsage,
    input_uncached: input ?? 0,
    input_cached: at('input', usage, 'cacheReadInputTokens') ?? 0,
    cache_write_5m: written - anHour,
    cache_write_1h: anHour,
    output_text: output ?? 0,
  });
}

/** Bedrock InvokeModel's own counts: `amazon-bedrock-invocationMetrics` of the last chunk. */
export const invocationUsage = (metrics: unknown): Usage | undefined => plainUsage(metrics, 'inputTokenCount', 'outputTokenCount');

export const ollamaUsage = (answer: JsonObject): Usage | undefined => plainUsage(answer, 'prompt_eval_count', 'eval_count');

function plainUsage(usage: unknown, inputMember: string, outputMember: string): Usage | undefined {
  const { at, noted } = readCounts();
  const input = at('input', usage, inputMember);
  const output = at('output', usage, outputMember);
  if (input === undefined && output === undefined) return undefined;
  return noted({ ...noUsage, input_uncached: input ?? 0, output_text: output ?? 0 });
}

/** Cohere bills `billed_units`; `tokens` also counts its own templates. */
export function cohereUsage(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const { at, noted } = readCounts();
  const counted: unknown = isObject(usage.billed_units) ? usage.billed_units : usage.tokens;
  const input = at('input', counted, 'input_tokens');
  const output = at('output', counted, 'output_tokens');
  const searches = at('output', usage.billed_units, 'search_units');
  if (input === undefined && output === undefined && searches === undefined) return undefined;
  return noted({ ...noUsage, input_uncached: input ?? 0, output_text: output ?? 0, requests_web_search: searches ?? 0 });
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
