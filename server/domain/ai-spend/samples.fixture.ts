import { sql } from '#server/platform/sql.ts';
import { fresh, idOf, made, nothing, type Sample } from '#server/testing/factories.ts';
import { insertCalls } from './calls.fixture.ts';

const user: Sample = async () => ({ external_id: fresh('user'), display_name: 'Alice Example', team: 'support' });
const limit: Sample = async () => ({ name: fresh('limit'), metric: 'usd', window: 'day', limit: '10', group_by: ['user'] });
const price: Sample = async () => ({ provider: 'openai', model: fresh('my-model'), input_per_mtok: 1, output_per_mtok: 2 });

export const samples: Record<string, Sample> = {
  'ai_spend.usage': nothing,
  'ai_spend.export': async () => ({ group_by: 'team' }),
  'ai_spend.breakdown': async () => ({ group_by: 'model' }),
  'ai_spend.requests.list': nothing,
  'ai_spend.requests.get': async (ctx) => {
    const [request_id] = await insertCalls(sql(), ctx, [{}]);
    return { request_id };
  },
  'ai_spend.budgets': nothing,
  'ai_spend.alerts': nothing,
  'ai_spend.prices.list': nothing,
  'ai_spend.prices.put': price,
  'ai_spend.prices.delete': async (ctx) => {
    const { provider, model } = await made(ctx, 'ai_spend.prices.put', await price(ctx));
    return { provider, model };
  },
  'ai_spend.users.list': nothing,
  'ai_spend.users.get': idOf('ai_spend.users.create', user),
  'ai_spend.users.create': user,
  'ai_spend.users.update': async (ctx) => ({ ...(await idOf('ai_spend.users.create', user)(ctx)), team: 'sales' }),
  'ai_spend.users.delete': idOf('ai_spend.users.create', user),
  'ai_spend.limits.list': nothing,
  'ai_spend.limits.get': idOf('ai_spend.limits.create', limit),
  'ai_spend.limits.create': limit,
  'ai_spend.limits.update': async (ctx) => ({ ...(await idOf('ai_spend.limits.create', limit)(ctx)), limit: '20' }),
  'ai_spend.limits.delete': idOf('ai_spend.limits.create', limit),
};

/** Every space may have a price of its own for the same model. */
export const byName = ['ai_spend.prices.put'];

/** How two days lie to each other, and what a query needs besides isn't in a schema. */
export const dependsOnState = [
  /must not be after|days before 'to'|can't be combined with from/,
  /^group_by: is required/,
  /^match\.model: |^group_by/,
];

export const harmless = {
  // Prices and limits bound cost.
  'ai_spend.prices.put': [
    'input_per_mtok',
    'output_per_mtok',
    'cached_input_per_mtok',
    'cache_write_per_mtok',
    'cache_write_1h_per_mtok',
    'reasoning_per_mtok',
    'tier_input_per_mtok',
    'tier_output_per_mtok',
    'tier_cached_input_per_mtok',
    'tier_cache_write_per_mtok',
    'per_request_usd',
    'image_input_per_mtok',
    'image_output_per_mtok',
    'per_image_usd',
    'per_input_image_usd',
    'image_prices',
    'web_search_usd',
    'input_per_mchar',
    'per_audio_minute_usd',
    'tier_threshold_tokens',
    'batch_discount',
    'flex_discount',
    'priority_surcharge',
  ],
  'ai_spend.limits.update': ['name', 'match', 'group_by', 'window', 'limit', 'action', 'enabled'],
  'ai_spend.users.update': ['display_name', 'email', 'team', 'enabled'],
};
