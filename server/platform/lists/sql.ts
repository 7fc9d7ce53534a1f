import type { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { PageRequest } from '#server/kernel/page.ts';

// The filters of a list as SQL. The text of a statement depends on the code alone, so each connection parses it once.

export type Bind = (value: unknown, type: 'text' | 'uuid' | 'uuid[]' | 'timestamptz' | 'bigint') => string;
/** `own` is the condition that a row belongs to the caller's space. */
export type Write = (bind: Bind, own: string) => string;

/** Compares a column that is never null; most rows hold the value `mostly`. */
export type Equality = { column: string; is: string | boolean; mostly: string | boolean };

/** Any other condition. */
export type Condition = {
  where: Write;
  /** Counts the rows that pass this condition alone, if there is a cheaper way than reading them. */
  count?: (tx: Tx, ctx: Ctx) => Promise<number>;
  /** Selects the IDs of the rows that pass; used while the result is small. */
  ids?: Write;
};

export type Filter = Equality | Condition;

export type Listing = PageRequest & {
  table: Prisma.ModelName;
  /** The kind of the row counter, if it isn't the table's name. */
  counted?: string;
  sort: string;
  order: 'asc' | 'desc';
  filters?: readonly (Filter | undefined | false)[];
  /** Part of the text a row is searched by; `%` and `_` stand for themselves. */
  q?: string | undefined;
  tag?: string | undefined;
};

const OWN = 'tenant_id = $1::uuid and sandbox = $2::boolean';
/** Runs a statement about rows of the caller's space. */
export const queryOwn = <R>(tx: Tx, ctx: Ctx, write: Write): Promise<R[]> =>
  query<R>(tx, [ctx.tenant_id, ctx.sandbox], (bind) => write(bind, OWN));

/** Runs a statement that selects one count. */
export const countBy =
  (write: Write) =>
  async (tx: Tx, ctx: Ctx): Promise<number> =>
    (await queryOwn<{ n: number }>(tx, ctx, (bind, own) => `select (${write(bind, own)})::float8 as n`))[0]?.n ?? 0;

export async function query<R>(tx: Tx, values: unknown[], write: (bind: Bind) => string): Promise<R[]> {
  const text = write((value, type) => `$${values.push(value)}::${type}`);
  return tx.$queryRawUnsafe<R[]>(text, ...values);
}

/** Booleans are written out so that the planner can match a partial index. */
export const conditions = (filters: readonly Filter[], bind: Bind, own: string, few = false): string[] =>
  filters.map((f) => {
    if ('where' in f) return few && f.ids ? `id = any(array(${f.ids(bind, own)}))` : f.where(bind, own);
    return typeof f.is === 'boolean' ? (f.is ? f.column : `not ${f.column}`) : `${f.column} = ${bind(f.is, 'text')}`;
  });

/** Conditions that together select the rows an equality excludes, each a range of an index. */
export const complement = (f: Equality, bind: Bind): string[] =>
  typeof f.is === 'boolean'
    ? [f.is ? `not ${f.column}` : f.column]
    : [`${f.column} < ${bind(f.is, 'text')}`, `${f.column} > ${bind(f.is, 'text')}`];

/** The members of a collection. */
export const inCollection = (id: string): Filter => ({ where: (bind) => `collection_id = ${bind(id, 'uuid')}` });
