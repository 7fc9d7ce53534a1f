/** Prices of one model, in USD. A member that is null costs what the comment beside it says. */
export const RATES = [
  'input_per_mtok',
  'output_per_mtok',
  /** null: as input */
  'cached_input_per_mtok',
  /** null: as input */
  'cache_write_per_mtok',
  /** null: as cache_write_per_mtok */
  'cache_write_1h_per_mtok',
  /** null: as output */
  'reasoning_per_mtok',
  /** The tier counts for the whole call when its prompt has more tokens than the threshold; null: as without the tier. */
  'tier_input_per_mtok',
  'tier_output_per_mtok',
  'tier_cached_input_per_mtok',
  'tier_cache_write_per_mtok',
  'per_request_usd',
  /** Of images that are made: tokens of pictures, which providers count apart from those of text; null: as input, and as output */
  'image_input_per_mtok',
  'image_output_per_mtok',
  /** Per image that is made. Of a model with `image_prices` it is the price of every other size and quality. */
  'per_image_usd',
  /** Per image that is sent along to be edited */
  'per_input_image_usd',
  'web_search_usd',
  /** Per million characters of text that is spoken. */
  'input_per_mchar',
  /** Per minute of audio that is heard; not of a call whose tokens the provider counts. */
  'per_audio_minute_usd',
] as const;
export type Rate = (typeof RATES)[number];
