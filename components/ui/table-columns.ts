import {
  type ColumnDef,
  columnVisibilityFeature,
  createColumnHelper,
  metaHelper,
  type RowData,
  rowSelectionFeature,
  rowSortingFeature,
  tableFeatures,
} from '@tanstack/react-table';

export type ColumnMeta = {
  align?: 'left' | 'right';
  /** The column disappears on windows narrower than this; the details are one click away. */
  hideBelow?: 'sm' | 'md' | 'lg' | 'xl' | '2xl';
  /** CSS width; without one the column takes what its content needs. */
  width?: string;
  /** The cell's text is cut with an ellipsis instead of widening the table. */
  truncate?: boolean;
  /** The cell grows with its text up to this CSS width, and cuts what is longer: one long name must not push the other columns out of sight. */
  cap?: string;
};

/** What our tables use of TanStack Table. Rows arrive sorted and paged from the server, so no row model but the core one is loaded. */
export const features = tableFeatures({
  columnVisibilityFeature,
  rowSelectionFeature,
  rowSortingFeature,
  columnMeta: metaHelper<ColumnMeta>(),
});
export type Features = typeof features;

// biome-ignore lint/suspicious/noExplicitAny: the columns of one table hold values of different types, as in the library's own `columns`.
export type Columns<T extends RowData> = readonly ColumnDef<Features, T, any>[];

/**
 * A typed column builder: `const column = columnsFor<Route>()`. Define columns once, outside the component. A column sorts by its id, which is then a key
 * that the list endpoint sorts by, if it says `enableSorting: true`.
 */
export const columnsFor = <T extends RowData>() => createColumnHelper<Features, T>();

/** The id the library gives a column: its own, else the key it reads. */
export function columnId<T extends RowData>(column: Columns<T>[number]): string {
  return column.id ?? ('accessorKey' in column ? String(column.accessorKey) : '');
}
