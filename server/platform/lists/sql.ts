import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { PageRequest } from '#server/kernel/page.ts';

// What a list is asked for, as SQL. A statement's text depends on the code alone, so it is parsed once a connection.

export type ListedTable = 'routes' | 'secrets' | 'clients' | 'collections' | 'api_keys';

export type Bind = (value: unknown, type: 'text' | 'uuid' | 'timestamptz' | 'bigint') => string;
/** `is` compares a column that is never null and `mostly` has one value. */
export type Equality = { column: string; is: string | boolean; mostly: string | boolean };

/** Any other condition, and what may be known of it besides. */
export type Condition = {
  where: Write;
  /** counts its rows alone, when that is cheaper elsewhere */
  count?: Write;
  /** selects the ids of its rows: while they are few, they are looked up */
  ids?: Write;
  /** its name, if its total stays the same until the list has another version: it asks for what the triggers list_changed and routes_configured watch */
  same?: string;
};
type Write = (bind: Bind, own: string) => string;

export type Filter = Equality | Condition;

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

const OWN = 'tenant_id = $1::uuid and sandbox = $2::boolean';
/** A statement about rows of the space. */
export const ask = <R>(tx: Tx, ctx: Ctx, write: (bind: Bind, own: string) => string): Promise<R[]> =>
  askWith<R>(tx, [ctx.tenant_id, ctx.sandbox], (bind) => write(bind, OWN));

export async function askWith<R>(tx: Tx, values: unknown[], write: (bind: Bind) => string): Promise<R[]> {
  const text = write((value, type) => `$${values.push(value)}::${type}`);
  return tx.$queryRawUnsafe<R[]>(text, ...values);
}

/** Truths are written out, so that an index of the rows off or on alone can be seen to fit. */
export const conditions = (filters: readonly Filter[], bind: Bind, own: string, few = false): string[] =>
  filters.map((f) => {
    if ('where' in f) return few && f.ids ? `id = any(array(${f.ids(bind, own)}))` : f.where(bind, own);
    return typeof f.is === 'boolean' ? (f.is ? f.column : `not ${f.column}`) : `${f.column} = ${bind(f.is, 'text')}`;
  });

/** The rows that an equality leaves out, as stretches of an index. */
export const beside = (f: { column: string; is: string | boolean }, bind: Bind): string[] =>
  typeof f.is === 'boolean'
    ? [f.is ? `not ${f.column}` : f.column]
    : [`${f.column} < ${bind(f.is, 'text')}`, `${f.column} > ${bind(f.is, 'text')}`];

/** The members of a collection. */
export const inCollection = (id: string): Filter => ({
  where: (bind) => `collection_id = ${bind(id, 'uuid')}`,
  same: `collection_id=${id}`,
});
