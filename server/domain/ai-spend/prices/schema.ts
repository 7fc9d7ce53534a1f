import { z } from 'zod';
import { atMostDecimals, flag, label, pathId, time } from '#server/kernel/fields.ts';
import { pageQuery } from '#server/kernel/page.ts';

const usd = z
  .number()
  .min(0)
  .max(1_000_000)
  .refine(...atMostDecimals(6));
const rate = usd.nullable();
/** Those of `server/ai/prices/rates.ts`. */
const rates = {
  input_per_mtok: rate,
  output_per_mtok: rate,
  cached_input_per_mtok: rate,
  cache_write_per_mtok: rate,
  cache_write_1h_per_mtok: rate,
  reasoning_per_mtok: rate,
  tier_input_per_mtok: rate,
  tier_output_per_mtok: rate,
  tier_cached_input_per_mtok: rate,
  tier_cache_write_per_mtok: rate,
  per_request_usd: rate,
  image_input_per_mtok: rate,
  image_output_per_mtok: rate,
  per_image_usd: rate,
  per_input_image_usd: rate,
  web_search_usd: rate,
  input_per_mchar: rate,
  per_audio_minute_usd: rate,
};

const share = (most: number) =>
  z
    .number()
    .min(0)
    .max(most)
    .refine(...atMostDecimals(4))
    .nullable();

const MOST_IMAGE_PRICES = 100;
/** A size or quality as a request names it. */
const word = z
  .string()
  .regex(/^[a-z0-9._-]{1,40}$/, 'must be 1 to 40 lowercase letters, digits, dots, hyphens or underscores, such as 1024x1024')
  .nullable()
  .default(null);
const imagePrices = z
  .array(z.object({ size: word, quality: word, usd }).meta({ id: 'AiImagePrice' }))
  .min(1)
  .max(MOST_IMAGE_PRICES)
  .refine(
    (rows) => new Set(rows.map(({ size, quality }) => `${size} ${quality}`)).size === rows.length,
    'must name each size and quality once',
  )
  .nullable();

const members = {
  ...rates,
  tier_threshold_tokens: z.int().min(1).max(100_000_000).nullable(),
  batch_discount: share(1),
  flex_discount: share(1),
  priority_surcharge: share(99),
  image_prices: imagePrices,
};

export const Price = z
  .object({
    provider: z.string(),
    model: z.string(),
    effective_from: time().nullable(),
    ...members,
    context_tokens: z.number().nullable(),
    max_output_tokens: z.number().nullable(),
    source: z.enum(['system', 'tenant']),
    overrides_system: z.boolean(),
  })
  .meta({ id: 'AiPrice' });

/** A model as its provider names it, or a prefix that ends in `*`. */
export const ModelName = label(200).refine((name) => !name.slice(0, -1).includes('*'));

export const ListPrices = z.object({
  ...pageQuery,
  provider: z.string().max(100).optional(),
  q: z.string().max(200).optional(),
  overrides: flag().optional(),
});
export const PriceRef = z.object({ provider: pathId(), model: pathId() });

export const PutPrice = z
  .object({
    provider: pathId(),
    model: pathId(),
    ...(Object.fromEntries(Object.entries(members).map(([name, kind]) => [name, kind.optional()])) as {
      [Name in keyof typeof members]: z.ZodOptional<(typeof members)[Name]>;
    }),
  })
  .refine(
    (price) => price.image_prices != null || (Object.keys(rates) as (keyof typeof rates)[]).some((name) => typeof price[name] === 'number'),
    {
      message: 'must have at least one price',
      path: ['input_per_mtok'],
    },
  );
/** What an override says of a model, beside its name. */
export const PRICE_MEMBERS = Object.keys(members) as (keyof typeof members)[];
