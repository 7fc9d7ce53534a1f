import { inputTokens, noUsage, outputTokens, type ServiceTier, type Usage } from '../usage/usage.ts';
import { imagePrice, mostForImage } from './images.ts';
import type { Price } from './price.ts';
import type { Rate } from './rates.ts';

/**
 * What a call cost in nano-USD, rounded half up once. A rate is whole micro-USD per million tokens, so tokens times rate are thousandths of a nano-USD
 * (interface rule 51 §9.3).
 */
export function costNano(usage: Usage, price: Price, { batch = false } = {}): bigint {
  const rate = ratesFor(price, inputTokens(usage));
  const [drawn, shown] = [part(usage.output_image, usage.output_text), part(usage.input_image, usage.input_uncached)];
  const thousandths =
    (count(usage.input_uncached) - shown) * rate.input +
    shown * rate.imageInput +
    count(usage.input_cached) * rate.cached +
    count(usage.cache_write_5m) * rate.write +
    count(usage.cache_write_1h) * rate.writeHour +
    (count(usage.output_text) - drawn) * rate.output +
    drawn * rate.imageOutput +
    count(usage.reasoning) * rate.reasoning +
    count(usage.characters) * (price.rates.input_per_mchar ?? 0n);
  const { per_request_usd, per_input_image_usd, web_search_usd, per_audio_minute_usd } = price.rates;
  const each =
    (per_request_usd ?? 0n) +
    count(usage.images) * perImage(usage, price) +
    count(usage.images_sent) * (per_input_image_usd ?? 0n) +
    count(usage.requests_web_search) * (web_search_usd ?? 0n);
  // A model has a price per minute or per token; where it has both, the provider's count of tokens is charged.
  const seconds = inputTokens(usage) > 0 ? 0n : count(Math.ceil(usage.seconds_audio));
  const audio = (seconds * (per_audio_minute_usd ?? 0n) * 1_000_000n) / 60n;
  // One micro-USD is a million thousandths of a nano-USD.
  const whole = thousandths + audio + each * 1_000_000n;
  const share = shareOf(price, batch ? 'batch' : usage.tier);
  const nano = (whole * share + 5_000_000n) / 10_000_000n;
  return nano < MOST_NANO ? nano : MOST_NANO;
}

/** A million USD: what one call is charged at most, so that thousands of such calls fit into a counter of the database. */
export const MOST_NANO = 1_000_000n * 1_000_000_000n;

/** What one image costs beside tokens. Of a model that has prices by size and quality, the provider's count of tokens is charged instead where there is one. */
function perImage(usage: Usage, price: Price): bigint {
  if (usage.images === 0) return 0n;
  if (price.images.length === 0) return price.rates.per_image_usd ?? 0n;
  if (usage.source === 'provider' && outputTokens(usage) > 0) return 0n;
  return (usage.source === 'provider' ? imagePrice : mostForImage)(price, usage.image ?? {}) ?? 0n;
}

/** Ten-thousandths of the standard price: batch and flex are cheaper, priority is dearer; a share that nobody said is none. */
function shareOf({ batchDiscount, flexDiscount, prioritySurcharge }: Price, tier: ServiceTier | 'batch' | undefined): bigint {
  if (tier === 'batch') return 10_000n - (batchDiscount ?? 0n);
  if (tier === 'flex') return 10_000n - (flexDiscount ?? 0n);
  return tier === 'priority' ? 10_000n + (prioritySurcharge ?? 0n) : 10_000n;
}

/** Whether the price says what a tier costs. */
export const pricesTier = ({ flexDiscount, prioritySurcharge }: Price, tier: ServiceTier | undefined): boolean =>
  tier === 'flex' ? flexDiscount !== null : tier !== 'priority' || prioritySurcharge !== null;

/** The most a call may cost before it is made: its input as uncached, and all of its output as text or pictures; `media` as it is known before. */
export function estimateNano(price: Price, input: number, output: number, media: Partial<Usage> = {}): bigint {
  const usage: Usage = { ...noUsage, input_uncached: input, output_text: output, ...media, source: 'estimated' };
  const dearer = (price.rates.image_output_per_mtok ?? 0n) > (price.rates.output_per_mtok ?? 0n);
  return costNano(dearer ? { ...usage, output_image: output } : usage, price);
}

/** The tier's rates hold for the whole call, as soon as its prompt is longer than the threshold. */
function ratesFor({ rates, tierThreshold }: Price, promptTokens: number) {
  const tiered = tierThreshold !== null && promptTokens > tierThreshold;
  const of = (name: Rate, tier: Rate): bigint | null => (tiered ? rates[tier] : null) ?? rates[name];
  const input = of('input_per_mtok', 'tier_input_per_mtok') ?? 0n;
  const output = of('output_per_mtok', 'tier_output_per_mtok') ?? 0n;
  const write = of('cache_write_per_mtok', 'tier_cache_write_per_mtok') ?? input;
  return {
    input,
    output,
    cached: of('cached_input_per_mtok', 'tier_cached_input_per_mtok') ?? input,
    write,
    writeHour: rates.cache_write_1h_per_mtok ?? write,
    imageInput: rates.image_input_per_mtok ?? input,
    imageOutput: rates.image_output_per_mtok ?? output,
    reasoning: rates.reasoning_per_mtok ?? output,
  };
}

const part = (of: number, whole: number): bigint => count(Math.min(of, whole));

/** Providers report whole numbers; what isn't one is cut to it, so that no answer can break the ledger. */
const count = (n: number): bigint => (Number.isFinite(n) && n > 0 ? BigInt(Math.floor(n)) : 0n);
