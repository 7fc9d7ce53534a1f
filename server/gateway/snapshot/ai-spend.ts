import { type PriceEntry, priceOf } from '#server/ai/prices/price.ts';
import { RATES } from '#server/ai/prices/rates.ts';
import { type PriceRow, type PriceTable, priceTable } from '#server/ai/prices/table.ts';
import { defineSlice, epochMs, OF_SPACE } from './slice.ts';

type OverrideRow = PriceEntry & { from: number; withdrawn: boolean };
type LimitRow = {
  id: string;
  name: string;
  match: LimitMatch;
  group_by: string[];
  metric: 'usd' | 'tokens' | 'requests';
  window: 'minute' | 'hour' | 'day' | 'month';
  /** Nano-USD for usd, else a count. */
  limit: string;
  action: 'block' | 'warn';
};
/** All that is given must match. */
export type LimitMatch = {
  readonly user?: string;
  readonly team?: string;
  readonly model?: string;
  readonly tag?: { readonly key: string; readonly value?: string };
};

/** A limit per user, team, tag or model that holds beside the budgets of tokens, agents and gateways. */
export type LimitPolicy = Readonly<Omit<LimitRow, 'limit'>> & { readonly limit: bigint };

const rates = RATES.map((name) => `${name}::float8`).join(', ');

/** A workspace's own prices and its limit policies (interface rule 50 §11.4, §14). */
export const aiSpend = defineSlice({
  name: 'aiSpend',
  tables: ['ai_prices', 'ai_limit_policies'],
  queries: {
    ai_prices: `select tenant_id, sandbox, provider, model, withdrawn, ${epochMs('effective_from')} as "from", tier_threshold_tokens, batch_discount::float8, flex_discount::float8, priority_surcharge::float8, image_prices, ${rates}
      from ai_prices where ${OF_SPACE}`,
    ai_limits: `select tenant_id, sandbox, id, name, match, group_by, metric, "window", action,
      round("limit" * case metric when 'usd' then 1000000000 else 1 end)::text as "limit"
      from ai_limit_policies where ${OF_SPACE} and enabled order by name`,
  },
  compile(rows: { ai_prices: OverrideRow[]; ai_limits: LimitRow[] }): { aiPrices: PriceTable; aiLimits: readonly LimitPolicy[] } {
    return {
      aiPrices: priceTable(rows.ai_prices.map(override)),
      aiLimits: rows.ai_limits.map((row) => ({ ...row, limit: BigInt(row.limit) })),
    };
  },
  size: (rows) => rows.ai_prices.length + rows.ai_limits.length,
});

const override = ({ from, withdrawn, ...row }: OverrideRow): PriceRow => ({
  provider: row.provider,
  model: row.model,
  from,
  price: withdrawn ? null : { ...priceOf(row), source: 'tenant', effectiveFrom: from },
});
