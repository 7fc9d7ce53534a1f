import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { countOfRoute, countRows, countUpTo, keptCount, type RouteLogFilters } from '../counts.ts';
import type { LogFilters } from '../filters.ts';
import { browseRows, type LogFields, type LogPlace, routeRows } from '../store.ts';
import type { Past } from './past.ts';
import { pastCount, pastRows } from './reading.ts';

// Lists out of both stores, as if they were one. Without a past they are PostgreSQL's alone.

/** A page of the space's calls. */
export const browseAll = (tx: Tx, ctx: Ctx, past: Past | null, filters: LogFilters, place: LogPlace): Promise<LogFields[]> =>
  past
    ? page(past, filters, place, (limit) => browseRows(tx, ctx, { ...filters, above: past.cut }, { ...place, offset: 0, limit }))
    : browseRows(tx, ctx, filters, place);

/** A page of one route's calls, newest first. */
export const routeRowsOfAll = (
  tx: Tx,
  ctx: Ctx,
  past: Past | null,
  filters: LogFilters,
  window: { take: number; skip: number; backwards: boolean },
): Promise<LogFields[]> => {
  if (!past) return routeRows(tx, ctx, filters, window);
  const order = window.backwards ? 'asc' : 'desc';
  return page(past, filters, { sort: 'ts', order, limit: window.take, offset: window.skip }, async (take) => {
    const rows = await routeRows(tx, ctx, { ...filters, above: past.cut }, { ...window, skip: 0, take });
    return window.backwards ? rows.reverse() : rows;
  }).then((rows) => (window.backwards ? rows.reverse() : rows));
};

async function page(
  past: Past,
  filters: LogFilters,
  place: LogPlace,
  newest: (limit: number) => Promise<LogFields[]>,
): Promise<LogFields[]> {
  const { limit, offset = 0, sort } = place;
  // A call of an hour was written when it ended, so some in PostgreSQL come after some in ClickHouse: neither store's part of a page can be cut off alone.
  const newer = await newest(offset + limit);
  const last = newer.length === offset + limit ? newer.at(-1) : undefined;
  // Of the older ones as many can be passed over as the newer ones can't fill up.
  const passed = last ? 0 : Math.max(0, offset - newer.length);
  const older = await pastRows(past, filters, {
    ...place,
    offset: passed,
    limit: offset + limit - passed,
    ahead_of: last && { value: placeIn(last, sort), id: BigInt(last.id) },
  });
  return merged(newer, older, place).slice(offset - passed, offset - passed + limit);
}

const placeIn = (row: LogFields, sort: LogPlace['sort']) => (sort === 'ts' ? row.ts.getTime() : (row.latency_ms ?? 0));

function merged(newer: LogFields[], older: LogFields[], { sort, order }: LogPlace): LogFields[] {
  const sign = order === 'asc' ? 1 : -1;
  return [...newer, ...older].sort((a, b) => sign * (placeIn(a, sort) - placeIn(b, sort) || Number(BigInt(a.id) - BigInt(b.id))));
}

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
