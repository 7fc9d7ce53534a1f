import type { Price } from '#server/ai/prices/price.ts';
import { PriceFile } from '#server/ai/prices/price.ts';
import shipped from '#server/ai/prices/prices.json' with { type: 'json' };
import { lookUp, modelsOf, type PriceTable, systemTable } from '#server/ai/prices/table.ts';
import { processState } from '#server/kernel/process-state.ts';
import { aiPricesText } from '#server/platform/ai-prices-file.ts';
import { log } from '#server/platform/log.ts';

/** Prices of the deployment: those of the product, or the operator's file (AI_PRICES_FILE) in their place. */
export type SystemPrices = { readonly file: PriceFile; readonly table: PriceTable };

const held = processState('ai-prices', (): { prices?: SystemPrices } => ({}));

/** Read once a process. A file that can't be used is told in the log, and the prices of the product count. */
export function systemPrices(): SystemPrices {
  held.prices ??= load();
  return held.prices;
}

/** The price of a model at an instant (epoch ms), or null when it has none. `overrides` are those of the workspace. */
export const price = (provider: string, model: string, at: number, overrides?: PriceTable): Price | null =>
  lookUp(systemPrices().table, provider, model, at, overrides);

/** Models of a provider that have a price. */
export const pricedModels = (provider: string, at: number, overrides?: PriceTable): Price[] =>
  modelsOf(systemPrices().table, provider, at, overrides);

function load(): SystemPrices {
  const own = operatorFile();
  const file = own ?? (shipped as unknown as PriceFile);
  return { file, table: systemTable(file) };
}

function operatorFile(): PriceFile | null {
  try {
    const text = aiPricesText();
    if (text === null) return null;
    const file = PriceFile.parse(JSON.parse(text));
    log.info({ date: file.date, source: file.source, models: file.models.length }, 'AI prices of the operator are in use');
    return file;
  } catch (error) {
    log.error({ problem: (error as Error).message }, 'cannot use AI_PRICES_FILE; the prices of the product are in use');
    return null;
  }
}
