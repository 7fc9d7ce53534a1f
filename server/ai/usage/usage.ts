/** What a call used, in the same classes for every provider (spec/51 §9.2). Counts of tokens, but for the last three before `source`. */
export type Usage = {
  input_uncached: number;
  input_cached: number;
  cache_write_5m: number;
  cache_write_1h: number;
  output_text: number;
  reasoning: number;
  requests_web_search: number;
  images: number;
  seconds_audio: number;
  source: 'provider' | 'estimated';
};

export const noUsage: Readonly<Usage> = Object.freeze({
  input_uncached: 0,
  input_cached: 0,
  cache_write_5m: 0,
  cache_write_1h: 0,
  output_text: 0,
  reasoning: 0,
  requests_web_search: 0,
  images: 0,
  seconds_audio: 0,
  source: 'provider',
});

export const inputTokens = (usage: Usage): number =>
  usage.input_uncached + usage.input_cached + usage.cache_write_5m + usage.cache_write_1h;

export const outputTokens = (usage: Usage): number => usage.output_text + usage.reasoning;

/** Both calls together, as a schema retry is charged. Estimated when either was. */
export function sumOf(a: Usage, b: Usage): Usage {
  return {
    input_uncached: a.input_uncached + b.input_uncached,
    input_cached: a.input_cached + b.input_cached,
    cache_write_5m: a.cache_write_5m + b.cache_write_5m,
    cache_write_1h: a.cache_write_1h + b.cache_write_1h,
    output_text: a.output_text + b.output_text,
    reasoning: a.reasoning + b.reasoning,
    requests_web_search: a.requests_web_search + b.requests_web_search,
    images: a.images + b.images,
    seconds_audio: a.seconds_audio + b.seconds_audio,
    source: a.source === 'estimated' || b.source === 'estimated' ? 'estimated' : 'provider',
  };
}

const BYTES_PER_TOKEN = 4;
const TOKENS_PER_IMAGE = 85;

/** A guess for a call without counts of the provider: four bytes a token, 85 tokens an image (spec/51 §9.2). */
export function estimatedUsage(sent: { textBytes: number; images: number }, receivedBytes: number): Usage {
  return { ...noUsage, input_uncached: estimatedInput(sent), output_text: Math.ceil(receivedBytes / BYTES_PER_TOKEN), source: 'estimated' };
}

/** Input tokens of a request that was not sent yet: what a reservation counts with. */
export const estimatedInput = ({ textBytes, images }: { textBytes: number; images: number }): number =>
  Math.ceil(textBytes / BYTES_PER_TOKEN) + images * TOKENS_PER_IMAGE;
