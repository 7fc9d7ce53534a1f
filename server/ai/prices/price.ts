import { z } from 'zod';
import { RATES, type Rate } from './rates.ts';

const rate = z.number().min(0).max(1_000_000);
const word = z.string().regex(/^[a-z0-9._-]{1,40}$/);
const entry = z.strictObject({
  provider: z.string().min(1),
  /** Exact, or a prefix that ends in `*`. */
  model: z.string().min(1),
  /** Counts from this instant on; without it always. */
  effective_from: z.iso.datetime().optional(),
  context_tokens: z.int().positive().optional(),
  max_output_tokens: z.int().positive().optional(),
  tier_threshold_tokens: z.int().positive().optional(),
  /** Share that a batch call is cheaper by, 0 to 1. */
  batch_discount: z.number().min(0).max(1).optional(),
  /** Share that a call of the flex tier is cheaper by, 0 to 1, and one of the priority tier dearer by. */
  flex_discount: z.number().min(0).max(1).optional(),
  priority_surcharge: z.number().min(0).max(99).optional(),
  /** What one image costs by size and quality, where the provider counts no tokens; the first row that fits is the provider's default. */
  image_prices: z
    .array(z.strictObject({ size: word.nullable().optional(), quality: word.nullable().optional(), usd: rate }))
    .max(100)
    .nullable()
    .optional(),
  ...(Object.fromEntries(RATES.map((name) => [name, rate.optional()])) as Record<Rate, z.ZodOptional<typeof rate>>),
});

/** The file of prices that the product brings, or that an operator puts in its place (AI_PRICES_FILE). */
export const PriceFile = z.strictObject({ date: z.iso.date(), source: z.string().min(1), models: z.array(entry).max(20_000) });
export type PriceFile = z.output<typeof PriceFile>;
export type PriceEntry = PriceFile['models'][number];

/** The price of an image of a size and quality, in micro-USD; null stands for any. */
export type ImagePrice = { readonly size: string | null; readonly quality: string | null; readonly micro: bigint };

/** A price that can be reckoned with: rates in micro-USD (per million tokens, or each), so that costs are whole numbers. */
export type Price = {
  readonly provider: string;
  readonly model: string;
  readonly source: 'system' | 'tenant';
  /** Epoch ms; 0 without a beginning. */
  readonly effectiveFrom: number;
  readonly rates: Readonly<Record<Rate, bigint | null>>;
  readonly tierThreshold: number | null;
  /** In ten-thousandths; null where nobody said. */
  readonly batchDiscount: bigint | null;
  readonly flexDiscount: bigint | null;
  readonly prioritySurcharge: bigint | null;
  readonly images: readonly ImagePrice[];
  readonly contextTokens: number | null;
  readonly maxOutputTokens: number | null;
};

/** Dollars with at most six decimals, as a number or as the database's text, in micro-USD. */
export const micro = (usd: number | string): bigint => BigInt(Math.round(Number(usd) * 1_000_000));

/** `rates` of a row or entry; a member that is absent is null. */
export function ratesOf(row: Readonly<Partial<Record<Rate, number | string | null>>>): Record<Rate, bigint | null> {
  return Object.fromEntries(RATES.map((name) => [name, row[name] === undefined || row[name] === null ? null : micro(row[name])])) as Record<
    Rate,
    bigint | null
  >;
}

export const priceOf = (given: PriceEntry): Price => ({
  provider: given.provider,
  model: given.model,
  source: 'system',
  effectiveFrom: given.effective_from === undefined ? 0 : Date.parse(given.effective_from),
  rates: ratesOf(given),
  tierThreshold: given.tier_threshold_tokens ?? null,
  batchDiscount: tenThousandths(given.batch_discount),
  flexDiscount: tenThousandths(given.flex_discount),
  prioritySurcharge: tenThousandths(given.priority_surcharge),
  images: (given.image_prices ?? []).map(({ size, quality, usd }) => ({ size: size ?? null, quality: quality ?? null, micro: micro(usd) })),
  contextTokens: given.context_tokens ?? null,
  maxOutputTokens: given.max_output_tokens ?? null,
});

const tenThousandths = (share: number | null | undefined): bigint | null => (share == null ? null : BigInt(Math.round(share * 10_000)));
