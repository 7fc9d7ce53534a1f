import type { Ctx } from './context.ts';
import type { Tx } from './database.ts';
import { clampPage, type PageRequest } from './page.ts';

// Pages by number over tables of any size (interface rule 01 §6.1: any page up to an offset of 100,000, and the true total). The ids of a page come
// from an index, from whichever end of it is nearer, and a total from a live count, from an index, or from all rows less those that do not match.

export type ListedTable = 'routes' | 'secrets' | 'clients' | 'collections' | 'api_keys';

type Bind = (value: unknown, type: 'text' | 'uuid' | 'timestamptz' | 'bigint') => string;
/** `is` compares a column that is never null and `mostly` has one value; `where` is any other condition, and `count` counts its rows alone when that is cheaper elsewhere. */
export type Filter =
  | { column: string; is: string | boolean; mostly: string | boolean }
  | { where: (bind: Bind, own: string) => string; count?: (bind: Bind, own: string) => string };

export type Listing = PageRequest & {
  table: ListedTable;
  /** The live count of all rows, where it has not the table's name. */
  counted?: string;
  sort: string;
  order: 'asc' | 'desc';
  filters?: readonly (Filter | undefined | false)[];
  /** Part of what a row is searched by; `%` and `_` mean themselves. */
  q?: string | undefined;
  tag?: string | undefined;
};

/** What a search found is looked up among the rows that pass the other filters while it is no more than this; else those rows are looked at. */
export const FEW = 1_000;
/** Rows counted on one side of a filter before the other is tried. */
export const GLANCE = 8_192;

/** The ids of a page in its order, and how many rows pass. Runs inside `read`. */
export async function listIds(tx: Tx, ctx: Ctx, listing: Listing): Promise<{ ids: string[]; total: number }> {
  const filters = filtersOf(listing);
  const search = searchOf(listing);
  if (!search) {
    const total = await totalOf(tx, ctx, listing, filters);
    return { ids: await idsOf(tx, ctx, listing, filters, total), total };
  }
  const few = filters.length === 0 ? await foundPage(tx, listing, search) : undefined;
  if (few) return few;
  const [found] = await askWith<{ n: number }>(tx, [], (bind) => `select matching_count(${matching(search, bind)})::float8 as n`);
  const n = found?.n ?? 0;
  if (filters.length === 0) return { ids: await foundIds(tx, listing, search, n), total: n };
  const both = [...filters, amongFound(search, n)];
  const total = n === 0 ? 0 : await totalOf(tx, ctx, listing, both);
  return { ids: await idsOf(tx, ctx, listing, both, total), total };
}

/** How many rows pass, for lists with an order of their own. */
export const countListed = (tx: Tx, ctx: Ctx, listing: Omit<Listing, 'q' | 'tag'>): Promise<number> =>
  totalOf(
    tx,
    ctx,
    listing,
    (listing.filters ?? []).filter((f) => typeof f === 'object'),
  );

/** A LIKE pattern of what contains the text; `%` and `_` mean themselves. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

/** Rows in the order of the ids they were read by. */
export function inOrder<R extends { id: string }>(ids: readonly string[], rows: readonly R[]): R[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

const OWN = 'tenant_id = $1::uuid and sandbox = $2::boolean';
/** A statement about rows of the space; its text depends on the code alone, so it is parsed once a connection. */
const ask = <R>(tx: Tx, ctx: Ctx, write: (bind: Bind, own: string) => string): Promise<R[]> =>
  askWith<R>(tx, [ctx.tenant_id, ctx.sandbox], (bind) => write(bind, OWN));

async function askWith<R>(tx: Tx, values: unknown[], write: (bind: Bind) => string): Promise<R[]> {
  const text = write((value, type) => `$${values.push(value)}::${type}`);
  return tx.$queryRawUnsafe<R[]>(text, ...values);
}

const filtersOf = ({ filters = [] }: Pick<Listing, 'filters'>): Filter[] => filters.filter((f) => typeof f === 'object');

type Search = { table: ListedTable; pattern: string | null; tag: string | null };

const searchOf = ({ table, q, tag }: Listing): Search | undefined =>
  q || tag !== undefined ? { table, tag: tag ?? null, pattern: q ? containing(q) : null } : undefined;

const matching = ({ table, pattern, tag }: Search, bind: Bind) => `${bind(table, 'text')}, ${bind(pattern, 'text')}, ${bind(tag, 'text')}`;

/** The answer to a search that finds few; undefined when it finds more. */
async function foundPage(tx: Tx, listing: Listing, search: Search): Promise<{ ids: string[]; total: number } | undefined> {
  const { skip, per_page } = clampPage(listing);
  const rows = await askWith<{ id: string | null; n: number }>(
    tx,
    [],
    (bind) =>
      `select id, n::int as n from matching_page(${matching(search, bind)}, ${bind(listing.sort, 'text')}, ${listing.order === 'desc'},
        ${bind(skip, 'bigint')}, ${bind(per_page, 'bigint')}, ${FEW})`,
  );
  const total = rows[0]?.n ?? 0;
  return total > FEW ? undefined : { ids: rows.flatMap(({ id }) => id ?? []), total };
}

async function foundIds(tx: Tx, listing: Listing, search: Search, total: number): Promise<string[]> {
  const { take, skip, order, backwards } = stretchOf(listing, total);
  if (take === 0) return [];
  const rows = await askWith<{ id: string }>(
    tx,
    [],
    (bind) =>
      `select id from matching_ids(${matching(search, bind)}, ${bind(listing.sort, 'text')}, ${order === 'desc'}, ${bind(skip, 'bigint')}, ${bind(take, 'bigint')}) as id`,
  );
  const ids = rows.map((row) => row.id);
  return backwards ? ids.reverse() : ids;
}

function amongFound(search: Search, n: number): Filter {
  if (n <= FEW)
    return { where: (bind) => `id in (select matching_ids(${matching(search, bind)}, null, false, 0, ${bind(FEW, 'bigint')}))` };
  const { pattern, tag } = search;
  return {
    where: (bind) =>
      [
        ...(pattern === null ? [] : [`search_text like lower(${bind(pattern, 'text')})`]),
        ...(tag === null ? [] : [`tags @> array[${bind(tag, 'text')}]`]),
      ].join(' and '),
  };
}

async function totalOf(tx: Tx, ctx: Ctx, { table, counted = table }: Listing, filters: readonly Filter[]): Promise<number> {
  const live = (bind: Bind, own: string) =>
    `coalesce((select n from row_counts where ${own} and kind = ${bind(counted, 'text')}), 0)::float8`;
  const one = async (write: (bind: Bind, own: string) => string) => (await ask<{ n: number }>(tx, ctx, write))[0]?.n ?? 0;
  const direct = () =>
    one((bind, own) => `select count(*)::float8 as n from ${table} where ${[own, ...conditions(filters, bind, own)].join(' and ')}`);
  const [first, ...more] = filters;
  if (!first) return one((bind, own) => `select ${live(bind, own)} as n`);
  if (more.length > 0) return direct();
  if ('where' in first) {
    const { count } = first;
    return count ? one((bind, own) => `select (${count(bind, own)})::float8 as n`) : direct();
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

async function idsOf(tx: Tx, ctx: Ctx, listing: Listing, filters: readonly Filter[], total: number): Promise<string[]> {
  const { take, skip, order, backwards } = stretchOf(listing, total);
  if (take === 0) return [];
  const rows = await ask<{ id: string }>(
    tx,
    ctx,
    (bind, own) =>
      `select id from ${listing.table} where ${[own, ...conditions(filters, bind, own)].join(' and ')} order by ${listing.sort} ${order}, id ${order}
        offset ${bind(skip, 'bigint')} limit ${bind(take, 'bigint')}`,
  );
  const ids = rows.map((row) => row.id);
  return backwards ? ids.reverse() : ids;
}

/** The part of the order that a page is, from the end that is nearer: `backwards` means in the other order, to be turned round. */
export function stretchOf(asked: PageRequest & { order: 'asc' | 'desc' }, total: number) {
  const { skip, per_page } = clampPage(asked);
  const take = Math.max(0, Math.min(per_page, total - skip));
  const behind = total - skip - take;
  const backwards = take > 0 && behind < skip;
  const order: 'asc' | 'desc' = (asked.order === 'asc') === backwards ? 'desc' : 'asc';
  return { take, skip: backwards ? behind : skip, order, backwards };
}

/** Truths are written out, so that an index of the rows off or on alone can be seen to fit. */
const conditions = (filters: readonly Filter[], bind: Bind, own: string): string[] =>
  filters.map((f) => {
    if ('where' in f) return f.where(bind, own);
    return typeof f.is === 'boolean' ? (f.is ? f.column : `not ${f.column}`) : `${f.column} = ${bind(f.is, 'text')}`;
  });

/** The rows that an equality leaves out, as stretches of an index. */
const beside = (f: { column: string; is: string | boolean }, bind: Bind): string[] =>
  typeof f.is === 'boolean'
    ? [f.is ? `not ${f.column}` : f.column]
    : [`${f.column} < ${bind(f.is, 'text')}`, `${f.column} > ${bind(f.is, 'text')}`];
