import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { clampPage, pageWindow } from '#server/kernel/page.ts';
import { ask, askWith, type Bind, conditions, type Filter, type ListedTable, type Listing } from './sql.ts';

// Lists by part of a name or by a tag. Looking things up in the index of trigrams is for what finds few; what finds many is walked.

/** What a search found is looked up, counted and put in order while it is no more than this. */
export const FEW = 1_000;

export type Search = { table: ListedTable; pattern: string | null; tag: string | null };

export const searchOf = ({ table, q, tag }: Listing): Search | undefined =>
  q || tag !== undefined ? { table, tag: tag ?? null, pattern: q ? containing(q) : null } : undefined;

/** A LIKE pattern of what contains the text; `%` and `_` mean themselves. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

const matching = ({ table, pattern, tag }: Search, bind: Bind) => `${bind(table, 'text')}, ${bind(pattern, 'text')}, ${bind(tag, 'text')}`;

/** The search as a condition on each row. */
export const likeFound = ({ pattern, tag }: Search): Filter => ({
  where: (bind) =>
    [
      ...(pattern === null ? [] : [`search_text like lower(${bind(pattern, 'text')})`]),
      ...(tag === null ? [] : [`tags @> array[${bind(tag, 'text')}]`]),
    ].join(' and '),
});

/** A page and the total of a search, and the number of all rows and the list's version at that moment. */
export type FewFound = { ids: string[]; total: number; of: number; version: bigint | null };

/** The answer to a search that finds few; undefined when it finds more. */
export async function foundPage(tx: Tx, ctx: Ctx, listing: Listing, search: Search): Promise<FewFound | undefined> {
  const { skip, per_page } = clampPage(listing);
  const rows = await ask<{ id: string | null; total: number; of: number | null; version: bigint | null }>(
    tx,
    ctx,
    (bind, own) =>
      `select p.id, p.n::int as total, s.n::float8 as of, s.version from matching_page(${matching(search, bind)}, ${bind(listing.sort, 'text')}, ${listing.order === 'desc'},
          ${bind(skip, 'bigint')}, ${bind(per_page, 'bigint')}, ${FEW}) with ordinality as p(id, n, place)
        left join (select n, version from row_counts where ${own} and kind = ${bind(listing.table, 'text')}) s on true order by p.place`,
  );
  const { total = 0, of = null, version = null } = rows[0] ?? {};
  return total > FEW ? undefined : { ids: rows.flatMap(({ id }) => id ?? []), total, of: of ?? 0, version };
}

/** The same beside other filters, with the number of all rows and the list's version at that moment. */
export async function foundAmong(
  tx: Tx,
  ctx: Ctx,
  { table, sort, order, ...asked }: Listing,
  search: Search,
  filters: readonly Filter[],
): Promise<FewFound | undefined> {
  const { skip, per_page } = clampPage(asked);
  const rows = await ask<{ id: string | null; found: number; total: number; of: number; version: bigint | null }>(
    tx,
    ctx,
    (bind, own) => `
      with found as materialized (select matching_ids(${matching(search, bind)}, null, false, 0, ${FEW + 1}) as id),
      passing as materialized (select id, ${sort} as key from ${table} where ${[own, ...conditions(filters, bind, own)].join(' and ')} and id in (select id from found)),
      page as (select id, row_number() over (order by key ${order}, id ${order}) as place from passing order by place offset ${bind(skip, 'bigint')} limit ${bind(per_page, 'bigint')}),
      state as (select n, version from row_counts where ${own} and kind = ${bind(table, 'text')})
      select p.id, c.found::int as found, c.total::int as total, coalesce(s.n, 0)::float8 as of, s.version
      from (select (select count(*) from found) as found, (select count(*) from passing) as total) c
        left join state s on true left join page p on true order by p.place`,
  );
  const [first] = rows;
  if (!first || first.found > FEW) return undefined;
  return { ids: rows.flatMap(({ id }) => id ?? []), total: first.total, of: first.of, version: first.version };
}

export async function countFound(tx: Tx, search: Search): Promise<number> {
  const [row] = await askWith<{ n: number }>(tx, [], (bind) => `select matching_count(${matching(search, bind)})::float8 as n`);
  return row?.n ?? 0;
}

/** The ids of a page of all that is found, of which there are `total`. */
export async function foundIds(tx: Tx, listing: Listing, search: Search, total: number): Promise<string[]> {
  const { take, skip, order, backwards } = pageWindow(listing, total);
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

/**
 * The ids of a page, found among the first `most` rows of its order; undefined when they do not hold it, or are not likely to: rows that match are as
 * often at one place as at another mostly, but not always.
 */
export async function walkedIds(
  tx: Tx,
  ctx: Ctx,
  listing: Listing,
  filters: readonly Filter[],
  { total, of }: { total: number; of: number },
  most: number,
): Promise<string[] | undefined> {
  const { take, skip, order, backwards } = pageWindow(listing, total);
  if (take === 0) return [];
  if ((skip + take) * of > total * most) return undefined;
  const inIts = `order by ${listing.sort} ${order}, id ${order}`;
  const rows = await ask<{ id: string }>(
    tx,
    ctx,
    (bind, own) => `select id from (select * from ${listing.table} where ${own} ${inIts} limit ${most}) ${listing.table}
      where ${conditions(filters, bind, own).join(' and ')} ${inIts} offset ${bind(skip, 'bigint')} limit ${bind(take, 'bigint')}`,
  );
  if (rows.length < take) return undefined;
  const ids = rows.map((row) => row.id);
  return backwards ? ids.reverse() : ids;
}
