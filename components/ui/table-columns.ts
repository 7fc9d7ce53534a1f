import type { ReactNode } from 'react';

export type ColumnMeta = {
  align?: 'left' | 'right';
  /** The column disappears on windows narrower than this; the details are one click away. */
  hideBelow?: 'sm' | 'md' | 'lg' | 'xl' | '2xl';
  /** CSS width; without one the column takes what its content needs. */
  width?: string;
  /** The key the list endpoint sorts by; without one the header is plain text. */
  sort?: string;
  /** The cell's text is cut with an ellipsis instead of widening the table. */
  truncate?: boolean;
  /** The cell grows with its text up to this CSS width, and cuts what is longer: one long name must not push the other columns out of sight. */
  cap?: string;
};

/** One column of a table: what its header says, and what a row holds and shows in it. */
export type Column<T> = {
  /** Of a column made by `accessor`, the key it reads. */
  id: string;
  header: ReactNode;
  meta: ColumnMeta | undefined;
  value: (row: T) => unknown;
  cell: (row: T) => ReactNode;
};
export type Columns<T> = readonly Column<T>[];

type Given<T, V> = { header: ReactNode; meta?: ColumnMeta; cell?: (cell: { row: { original: T }; getValue: () => V }) => ReactNode };

/** A typed column builder: `const column = columnsFor<Route>()`. Define columns once, outside the component. */
export function columnsFor<T>() {
  const built = <V>(id: string, value: (row: T) => V, { header, meta, cell }: Given<T, V>): Column<T> => ({
    id,
    header,
    meta,
    value,
    cell: (row) => (cell ? cell({ row: { original: row }, getValue: () => value(row) }) : text(value(row))),
  });
  return {
    accessor: <K extends keyof T & string>(key: K, given: Given<T, T[K]>) => built(key, (row) => row[key], given),
    /** A column of no single key. */
    display: ({ id, ...given }: { id: string } & Given<T, undefined>) => built(id, () => undefined, given),
  };
}

const text = (value: unknown): string | null => (value === null || value === undefined ? null : String(value));
