import type { EgressSettings } from '#server/platform/http-out/settings.ts';

/**
 * A part of the snapshot that is loaded and compiled by itself. Its tables are partitioned by workspace, most also by space, and a change of any of them
 * reloads this slice and no other.
 */
export type Slice<Rows extends RowLists, Part extends object> = {
  readonly name: string;
  /** Tables with `tenant_id` and `sandbox` that the queries read. */
  readonly tables: readonly string[];
  /** Tables that the queries read of the whole workspace: a change reloads the slice in both spaces. */
  readonly workspaceTables?: readonly string[];
  /**
   * SQL by the name of the list its rows become. $1: workspace ids; $2: values of `sandbox`. Every row has `tenant_id` and `sandbox`, which are
   * cut off; the rest is plain JSON, since it is written to disk as it is: bytes as base64, instants as epoch milliseconds.
   */
  readonly queries: { readonly [List in keyof Rows]: string };
  /** What the slice adds to the snapshot. Cheap: what a workspace may have many of is compiled at its first use. */
  compile(rows: Rows, egress: EgressSettings): Part;
  /** How many things the slice holds. */
  size(rows: Rows): number;
};

export type RowLists = Readonly<Record<string, readonly object[]>>;

export const defineSlice = <Rows extends RowLists, Part extends object>(slice: Slice<Rows, Part>): Slice<Rows, Part> => slice;

/** For queries of one table. */
export const OF_SPACE = 'tenant_id = any($1) and sandbox = any($2)';

/** An instant as epoch milliseconds. */
export const epochMs = (column: string): string => `(extract(epoch from ${column}) * 1000)::float8`;
