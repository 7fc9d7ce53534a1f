import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { clampPage, pageWindow } from '#server/kernel/page.ts';
import { recall, recallPage, remember, rememberPage } from './known-totals.ts';
import { countFound, FEW, foundAmong, foundIds, foundPage, likeFound, type Search, searchOf, walkedIds } from './search.ts';
import { ask, type Bind, beside, conditions, type Filter, type Listing } from './sql.ts';

// Pages by number over tables of any size (interface rule 01 §6.1: any page up to an offset of 100,000, and the true total). The ids of a page come
// from an index, from whichever end of it is nearer, and a total from a live count, from an index, from all rows less those that do not match, or from
// when it was last counted, if nothing it depends on has changed since.

export { containing, FEW } from './search.ts';
export { type Condition, type Filter, inCollection } from './sql.ts';

/** Rows counted on one side of a filter before the other is tried. */
const GLANCE = 8_192;
/** The same for a stretch of time, of which either side may be a handful. */
export const GLANCES = [1_000, GLANCE];

type Found = { ids: string[]; total: number };

/** The ids of a page in its order, and how many rows pass. Runs inside `read`. */
export async function listIds(tx: Tx, ctx: Ctx, listing: Listing): Promise<Found> {
  const filters = filtersOf(listing);
  const search = searchOf(listing);
  if (search) return searched(tx, ctx, listing, filters, search);
  const total = await totalOf(tx, ctx, listing, filters);
  return { ids: await idsOf(tx, ctx, listing, filters, total), total };
}

/** How many rows pass, for lists with an order of their own. */
export const countListed = (tx: Tx, ctx: Ctx, listing: Omit<Listing, 'q' | 'tag'>): Promise<number> =>
  totalOf(tx, ctx, listing, filtersOf(listing));

/** Rows in the order of the ids they were read by. */
export function inOrder<R extends { id: string }>(ids: readonly string[], rows: readonly R[]): R[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

const filtersOf = ({ filters = [] }: Pick<Listing, 'filters'>): Filter[] => filters.filter((f) => typeof f === 'object');

/** Rows looked at in the order of the page, in the hope that enough of them match. */
const WALK = 6_000;

/** The page as it was found at the version the list still has, or found now. */
async function searched(tx: Tx, ctx: Ctx, listing: Listing, filters: Filter[], search: Search): Promise<Found> {
  const key = keyOf(ctx, listing, filters, search);
  const { skip, per_page } = clampPage(listing);
  const place = key && JSON.stringify([key, listing.sort, listing.order, skip, per_page]);
  const known = place && recallPage(place);
  if (known && (await stateOf(tx, ctx, listing.table))?.version === known.version) return { ids: [...known.ids], total: known.total };
  const { version, ...found } = await searchedAfresh(tx, ctx, listing, filters, search, key);
  if (place && version !== null) rememberPage(place, version, found);
  return found;
}

/**
 * While a search finds few, they are looked up and what passes the filters is counted and put in order. Of what finds more the total is counted once,
 * and a page is mostly found soon by going through the rows in its order. `version` is the list's before anything was found; null when nobody asked.
 */
async function searchedAfresh(
  tx: Tx,
  ctx: Ctx,
  listing: Listing,
  filters: Filter[],
  search: Search,
  key: string | undefined,
): Promise<Found & { version: bigint | null }> {
  const known = await knownTotal(tx, ctx, listing, key);
  const both = [...filters, likeFound(search)];
  const page = (total: number) => (filters.length === 0 ? foundIds(tx, listing, search, total) : idsOf(tx, ctx, listing, both, total));
  if (known && known.total > FEW) return { ids: await page(known.total), total: known.total, version: known.version };
  const walked = known && (await walkedIds(tx, ctx, listing, both, known, WALK));
  if (known && walked) return { ids: walked, total: known.total, version: known.version };

  const few = filters.length === 0 ? await foundPage(tx, ctx, listing, search) : await foundAmong(tx, ctx, listing, search, filters);
  // Of what is found often enough that a walk finds it soon the total is worth remembering.
  if (few && key && few.version !== null && few.total * WALK > few.of * listing.per_page) remember(key, few.version, few.total);
  if (few) return { ids: few.ids, total: few.total, version: few.version };
  const count = () => (filters.length === 0 ? countFound(tx, search) : countDirectly(tx, ctx, listing, both));
  const total = known?.total ?? (await countedOnce(tx, ctx, listing, key, count));
  return { ids: await page(total), total, version: null };
}

async function totalOf(tx: Tx, ctx: Ctx, listing: Omit<Listing, 'q' | 'tag'>, filters: readonly Filter[]): Promise<number> {
  const { table, counted = table } = listing;
  const live = (bind: Bind, own: string) =>
    `coalesce((select n from row_counts where ${own} and kind = ${bind(counted, 'text')}), 0)::float8`;
  const one = async (write: (bind: Bind, own: string) => string) => (await ask<{ n: number }>(tx, ctx, write))[0]?.n ?? 0;
  const key = keyOf(ctx, listing, filters);
  const direct = () => countedOnce(tx, ctx, listing, key, () => countDirectly(tx, ctx, listing, filters));
  const [first, ...more] = filters;
  if (!first) return one((bind, own) => `select ${live(bind, own)} as n`);
  const known = await knownTotal(tx, ctx, listing, key);
  if (known) return known.total;
  if (more.length > 0) return direct();
  if ('where' in first) {
    const { count } = first;
    return count ? countedOnce(tx, ctx, listing, key, () => one((bind, own) => `select (${count(bind, own)})::float8 as n`)) : direct();
  }
  // Few rows are counted in place of many: those that pass, or all but those that do not.
  const upTo = (parts: readonly string[], own: string, most: string) =>
    parts.map((part) => `(select count(*) from (select from ${table} where ${own} and ${part} limit ${most}) r)`).join(' + ');
  const hits = (bind: Bind, own: string, most: string) => upTo(conditions([first], bind, own), own, most);
  const rest = (bind: Bind, own: string, most: string) => upTo(beside(first, bind), own, most);
  const [few, many] = first.is === first.mostly ? [rest, hits] : [hits, rest];
  const [glance] = await ask<{ few: number; many: number | null; n: number }>(
    tx,
    ctx,
    (bind, own) =>
      `select few, case when few >= ${GLANCE} then (${many(bind, own, String(GLANCE))})::int end as many, ${live(bind, own)} as n
        from (select (${few(bind, own, String(GLANCE))})::int as few) f`,
  );
  if (!glance) return 0;
  const counts = few === hits ? { hits: glance.few, rest: glance.many } : { hits: glance.many, rest: glance.few };
  if (counts.hits !== null && counts.hits < GLANCE) return counts.hits;
  if (counts.rest !== null && counts.rest < GLANCE) return glance.n - counts.rest;
  return direct();
}

async function countDirectly(tx: Tx, ctx: Ctx, { table }: Pick<Listing, 'table'>, filters: readonly Filter[]): Promise<number> {
  const [row] = await ask<{ n: number }>(
    tx,
    ctx,
    (bind, own) => `select count(*)::float8 as n from ${table} where ${[own, ...conditions(filters, bind, own)].join(' and ')}`,
  );
  return row?.n ?? 0;
}

async function idsOf(tx: Tx, ctx: Ctx, listing: Listing, filters: readonly Filter[], total: number): Promise<string[]> {
  const { take, skip, order, backwards } = pageWindow(listing, total);
  if (take === 0) return [];
  const rows = await ask<{ id: string }>(
    tx,
    ctx,
    (bind, own) =>
      `select id from ${listing.table} where ${[own, ...conditions(filters, bind, own, total <= FEW)].join(' and ')} order by ${listing.sort} ${order}, id ${order}
        offset ${bind(skip, 'bigint')} limit ${bind(take, 'bigint')}`,
  );
  const ids = rows.map((row) => row.id);
  return backwards ? ids.reverse() : ids;
}

/** Under what a total is remembered; undefined when something else than the list's own version decides it. */
function keyOf(ctx: Ctx, { table }: Pick<Listing, 'table'>, filters: readonly Filter[], search?: Search): string | undefined {
  const parts = filters.map((f) => ('where' in f ? f.same : `${f.column}=${f.is}`));
  if (table === 'api_keys' || parts.includes(undefined)) return undefined;
  return JSON.stringify([ctx.tenant_id, ctx.sandbox, table, parts, search?.pattern ?? null, search?.tag ?? null]);
}

/** The total as it was counted at the version the list still has, and the number of all rows. */
async function knownTotal(tx: Tx, ctx: Ctx, { table }: Pick<Listing, 'table'>, key: string | undefined) {
  const known = key === undefined ? undefined : recall(key);
  const state = known && (await stateOf(tx, ctx, table));
  return known && state?.version === known.version ? { total: known.total, of: state.n, version: known.version } : undefined;
}

/** The version is asked before the rows are counted: a change between the two leaves a total under a version that nobody sees any more. */
async function countedOnce(tx: Tx, ctx: Ctx, { table }: Pick<Listing, 'table'>, key: string | undefined, count: () => Promise<number>) {
  const state = key === undefined ? undefined : await stateOf(tx, ctx, table);
  const total = await count();
  if (key !== undefined && state) remember(key, state.version, total);
  return total;
}

const stateOf = async (tx: Tx, ctx: Ctx, table: string): Promise<{ n: number; version: bigint } | undefined> =>
  (
    await ask<{ n: number; version: bigint }>(
      tx,
      ctx,
      (bind, own) => `select n::float8 as n, version from row_counts where ${own} and kind = ${bind(table, 'text')}`,
    )
  )[0];
