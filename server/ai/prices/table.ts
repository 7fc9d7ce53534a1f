import { type Price, type PriceFile, priceOf } from './price.ts';

/** Prices of one source, by provider. A model has one row per change of its price. */
export type PriceTable = ReadonlyMap<
  string,
  { readonly exact: ReadonlyMap<string, readonly Versioned[]>; readonly prefixes: readonly Prefix[] }
>;
/** A price, or null for an override that was withdrawn. */
type Versioned = { readonly from: number; readonly price: Price | null };
/** Longest first. */
type Prefix = { readonly prefix: string; readonly versions: readonly Versioned[] };

export type PriceRow = { readonly provider: string; readonly model: string; readonly from: number; readonly price: Price | null };

export function priceTable(rows: readonly PriceRow[]): PriceTable {
  const table = new Map<string, { exact: Map<string, Versioned[]>; prefixes: Prefix[] }>();
  for (const [provider, own] of Map.groupBy(rows, (row) => row.provider)) {
    const byModel = Map.groupBy(own, ({ model }) => model);
    const exact = new Map<string, Versioned[]>();
    const prefixes: Prefix[] = [];
    for (const [model, versions] of byModel) {
      const newestFirst = versions.map(({ from, price }) => ({ from, price })).sort((a, b) => b.from - a.from);
      if (model.endsWith('*')) prefixes.push({ prefix: model.slice(0, -1), versions: newestFirst });
      else exact.set(model, newestFirst);
    }
    prefixes.sort((a, b) => b.prefix.length - a.prefix.length);
    table.set(provider, { exact, prefixes });
  }
  return table;
}

export const systemTable = (file: PriceFile): PriceTable =>
  priceTable(
    file.models.map((entry) => {
      const price = priceOf(entry);
      return { provider: price.provider, model: price.model, from: price.effectiveFrom, price };
    }),
  );

/**
 * The price of a model at an instant (epoch ms), or null: it is unpriced. In the order of interface rule 50 §11.4: the workspace's own, exact and then by the
 * longest prefix; the system's, exact, under the name without its dates and regions, and then by prefix.
 */
export function lookUp(system: PriceTable, provider: string, model: string, at: number, overrides?: PriceTable): Price | null {
  return (
    exactOf(overrides, provider, model, at) ??
    prefixOf(overrides, provider, model, at) ??
    plainNames(model).reduce<Price | null>((found, name) => found ?? exactOf(system, provider, name, at), null) ??
    prefixOf(system, provider, model, at)
  );
}

const exactOf = (table: PriceTable | undefined, provider: string, model: string, at: number): Price | null =>
  inForce(table?.get(provider)?.exact.get(model), at);

function prefixOf(table: PriceTable | undefined, provider: string, model: string, at: number): Price | null {
  for (const { prefix, versions } of table?.get(provider)?.prefixes ?? []) {
    const price = model.startsWith(prefix) ? inForce(versions, at) : null;
    if (price) return price;
  }
  return null;
}

const inForce = (versions: readonly Versioned[] | undefined, at: number): Price | null =>
  versions?.find(({ from }) => from <= at)?.price ?? null;

const LEADING = /^(?:models\/|(?:us|eu|apac|global)\.)/;
const TRAILING = [/-v\d{1,4}:\d{1,4}$/, /-20\d{6}$/, /-20\d\d-\d\d-\d\d$/];

/** The name as it is, then without what providers put before and behind it: `models/`, a Bedrock region, a version such as `-v1:0`, a date. */
function plainNames(model: string): string[] {
  const names = [model];
  let name = model;
  const add = (next: string) => {
    if (next !== name && next !== '') names.push(next);
    name = next || name;
  };
  add(name.replace(LEADING, ''));
  for (const pattern of TRAILING) add(name.replace(pattern, ''));
  return names;
}

/** Models of a provider that have an exact price at an instant, in the order of their names. */
export function modelsOf(system: PriceTable, provider: string, at: number, overrides?: PriceTable): Price[] {
  const found = new Map<string, Price>();
  for (const table of [system, overrides])
    for (const [model, versions] of table?.get(provider)?.exact ?? []) {
      const price = inForce(versions, at);
      if (price) found.set(model, price);
    }
  return [...found.values()].sort((a, b) => (a.model < b.model ? -1 : 1));
}
