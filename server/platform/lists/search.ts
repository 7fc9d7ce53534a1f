import type { Tx } from '#server/kernel/database.ts';
import { type Bind, type Condition, type Listing, query } from './sql.ts';

// Lists narrowed by part of a name or by a tag. The trigram index answers searches that find few rows; searches that find many read the rows in the
// order of the page.

/** A search that finds no more rows than this is answered by their IDs. */
export const LOOKUP_LIMIT = 1_000;

/** The search of a listing as a condition; undefined when it has none. */
export async function searchCondition(tx: Tx, { table, q, tag }: Listing): Promise<Condition | undefined> {
  if (!q && tag === undefined) return undefined;
  const pattern = q ? containing(q) : null;
  const search = (bind: Bind) => `${bind(table, 'text')}, ${bind(pattern, 'text')}, ${bind(tag ?? null, 'text')}`;
  const [found] = await query<{ ids: string[] }>(
    tx,
    [],
    (bind) => `select array(select matching_ids(${search(bind)}, ${LOOKUP_LIMIT + 1})) as ids`,
  );
  const ids = found?.ids ?? [];
  if (ids.length <= LOOKUP_LIMIT) return { where: (bind) => `id = any(${bind(ids, 'uuid[]')})`, count: async () => ids.length };
  return {
    where: (bind) =>
      [
        ...(pattern === null ? [] : [`search_text like lower(${bind(pattern, 'text')})`]),
        ...(tag === undefined ? [] : [`tags @> array[${bind(tag, 'text')}]`]),
      ].join(' and '),
    count: async () => {
      const [row] = await query<{ n: number }>(tx, [], (bind) => `select matching_count(${search(bind)})::float8 as n`);
      return row?.n ?? 0;
    },
  };
}

/** A LIKE pattern for text that contains this one; `%` and `_` stand for themselves. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;
