import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { mergedKeys, type SortedList } from '#server/platform/lists/merged.ts';
import { countOfRoute, countRows, countUpTo, keptCount, type RouteLogFilters } from '../counts.ts';
import type { LogFilters } from '../filters.ts';
import { browseRows, type LogFields, type LogPlace, routeRows } from '../store.ts';
import type { Past } from './past.ts';
import { pastCount, pastRows } from './reading.ts';

// Lists out of both stores, as if they were one. Without a past they are PostgreSQL's alone.

/** A page of the space's calls. */
export const browseAll = (tx: Tx, ctx: Ctx, past: Past | null, filters: LogFilters, place: LogPlace): Promise<LogFields[]> =>
  past ? pageOfBoth(tx, ctx, past, filters, place) : browseRows(tx, ctx, filters, place);

/** A page of one route's calls, newest first. */
export const routeRowsOfAll = async (
  tx: Tx,
  ctx: Ctx,
  past: Past | null,
  filters: LogFilters,
  window: { take: number; skip: number; backwards: boolean },
): Promise<LogFields[]> => {
  if (!past) return routeRows(tx, ctx, filters, window);
  const order = window.backwards ? 'asc' : 'desc';
  const rows = await pageOfBoth(tx, ctx, past, filters, { sort: 'ts', order, limit: window.take, offset: window.skip });
  return window.backwards ? rows.reverse() : rows;
};

/** A call of an hour was written when it ended, so some in PostgreSQL come after some in ClickHouse: neither store's part of a page can be cut off alone. */
function pageOfBoth(
  tx: Tx,
  ctx: Ctx,
  past: Past,
  filters: LogFilters,
  { sort, order, limit, offset = 0, before }: LogPlace,
): Promise<LogFields[]> {
  const sign = order === 'asc' ? 1 : -1;
  const beyondOf = (row: LogFields | undefined) => (row ? { value: placeIn(row, sort), id: BigInt(row.id) } : before);
  const lists: SortedList<LogFields>[] = [
    ({ beyond, ...window }) => browseRows(tx, ctx, { ...filters, above: past.cut }, { sort, order, ...window, before: beyondOf(beyond) }),
    ({ beyond, ...window }) => pastRows(past, filters, { sort, order, ...window, before: beyondOf(beyond) }),
  ];
  return mergedKeys(
    lists,
    { skip: offset, take: limit },
    (a, b) => sign * (placeIn(a, sort) - placeIn(b, sort) || Number(BigInt(a.id) - BigInt(b.id))),
  );
}

const placeIn = (row: LogFields, sort: LogPlace['sort']) => (sort === 'ts' ? row.ts.getTime() : (row.latency_ms ?? 0));

/** How many rows pass, counted up to `most` + 1. */
export async function countUpToOfAll(tx: Tx, ctx: Ctx, past: Past | null, filters: LogFilters, most: number): Promise<number> {
  if (!past) return countUpTo(tx, ctx, filters, most);
  const newer = await countUpTo(tx, ctx, { ...filters, above: past.cut }, most);
  return newer > most ? newer : newer + (await pastCount(past, filters, most + 1 - newer));
}

/** How many calls of a route pass. Kept totals count those of both stores; what they can't tell is counted in each. */
export async function countOfRouteInAll(tx: Tx, ctx: Ctx, past: Past | null, filters: RouteLogFilters): Promise<number> {
  if (!past) return countOfRoute(tx, ctx, filters);
  if (filters.from === undefined && filters.to === undefined && filters.environment === undefined) return keptCount(tx, ctx, filters);
  return (await countRows(tx, ctx, { ...filters, above: past.cut })) + (await pastCount(past, filters));
}
