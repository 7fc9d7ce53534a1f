import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { pageWindow } from '#server/kernel/page.ts';
import { LOOKUP_LIMIT, searchCondition } from './search.ts';
import { complement, conditions, countBy, type Equality, type Filter, type Listing, queryOwn, type Write } from './sql.ts';

// Numbered pages over tables of any size (interface rule 01 §6.1: any page up to an offset of 100,000, and the exact total). The IDs of a page come
// from an index, read from its nearer end. A total comes from a row counter, from an index, or from the counter less the rows that don't pass.

/** Rows counted on one side of a filter before the other side is tried. */
const PROBE_LIMIT = 8_192;
/** The same for a range of time, where either side may hold a handful of rows. */
export const PROBE_LIMITS = [1_000, PROBE_LIMIT];

/** The IDs of a page in its order, and how many rows pass. Runs inside `read`. */
export async function listIds(tx: Tx, ctx: Ctx, listing: Listing): Promise<{ ids: string[]; total: number }> {
  const search = await searchCondition(tx, listing);
  const filters = [...filtersOf(listing), ...(search ? [search] : [])];
  const total = await countFiltered(tx, ctx, listing, filters);
  return { ids: await idsOf(tx, ctx, listing, filters, total), total };
}

/** How many rows pass, for lists that find their pages themselves. */
export const countListed = (tx: Tx, ctx: Ctx, listing: Omit<Listing, 'q' | 'tag'>): Promise<number> =>
  countFiltered(tx, ctx, listing, filtersOf(listing));

/** Rows in the order of the IDs they were read by. */
export function inOrder<R extends { id: string }>(ids: readonly string[], rows: readonly R[]): R[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

const filtersOf = ({ filters = [] }: Pick<Listing, 'filters'>): Filter[] => filters.filter((f) => typeof f === 'object');

type Counted = Pick<Listing, 'table' | 'counted'>;

async function countFiltered(tx: Tx, ctx: Ctx, listing: Counted, filters: readonly Filter[]): Promise<number> {
  const [first, ...more] = filters;
  if (!first) return countAll(tx, ctx, listing);
  if (more.length === 0 && !('where' in first)) return countEqual(tx, ctx, listing, first);
  if (more.length === 0 && 'where' in first && first.count) return first.count(tx, ctx);
  return countRows(tx, ctx, listing, filters);
}

const countAll = (tx: Tx, ctx: Ctx, listing: Counted): Promise<number> => countBy(rowCounter(listing))(tx, ctx);

const countRows = (tx: Tx, ctx: Ctx, { table }: Counted, filters: readonly Filter[]): Promise<number> =>
  countBy((bind, own) => `select count(*) from ${table} where ${[own, ...conditions(filters, bind, own)].join(' and ')}`)(tx, ctx);

const rowCounter =
  ({ table, counted = table }: Counted): Write =>
  (bind, own) =>
    `coalesce((select n from row_counts where ${own} and kind = ${bind(counted, 'text')}), 0)::float8`;

/** Counts the smaller side of an equality: the rows that pass, or all rows less those that don't. */
async function countEqual(tx: Tx, ctx: Ctx, listing: Counted, filter: Equality): Promise<number> {
  const upTo = (parts: readonly string[], own: string) =>
    parts
      .map((part) => `(select count(*) from (select from ${listing.table} where ${own} and ${part} limit ${PROBE_LIMIT}) r)`)
      .join(' + ');
  const passing: Write = (bind, own) => upTo(conditions([filter], bind, own), own);
  const excluded: Write = (bind, own) => upTo(complement(filter, bind), own);
  const common = filter.is === filter.mostly;
  const [near, far] = common ? [excluded, passing] : [passing, excluded];
  const [probe] = await queryOwn<{ near: number; far: number | null; total: number }>(
    tx,
    ctx,
    (bind, own) =>
      `select near, case when near >= ${PROBE_LIMIT} then (${far(bind, own)})::int end as far, ${rowCounter(listing)(bind, own)} as total
        from (select (${near(bind, own)})::int as near) p`,
  );
  if (!probe) return 0;
  if (probe.near < PROBE_LIMIT) return common ? probe.total - probe.near : probe.near;
  if (probe.far !== null && probe.far < PROBE_LIMIT) return common ? probe.far : probe.total - probe.far;
  return countRows(tx, ctx, listing, [filter]);
}

async function idsOf(tx: Tx, ctx: Ctx, listing: Listing, filters: readonly Filter[], total: number): Promise<string[]> {
  const { take, skip, order, backwards } = pageWindow(listing, total);
  if (take === 0) return [];
  const rows = await queryOwn<{ id: string }>(
    tx,
    ctx,
    (bind, own) =>
      `select id from ${listing.table} where ${[own, ...conditions(filters, bind, own, total <= LOOKUP_LIMIT)].join(' and ')} order by ${listing.sort} ${order}, id ${order}
        offset ${bind(skip, 'bigint')} limit ${bind(take, 'bigint')}`,
  );
  const ids = rows.map((row) => row.id);
  return backwards ? ids.reverse() : ids;
}
