'use client';

import { functionalUpdate, type RowData, type RowSelectionState, type SortingState, useTable } from '@tanstack/react-table';
import { useMemo } from 'react';
import { type Columns, columnId, features } from './table-columns.ts';

export type Sort = { sort: string; order: 'asc' | 'desc' };
export type Selection = { selected: ReadonlySet<string>; onChange: (selected: Set<string>) => void };

export type TableModelProps<T extends RowData> = {
  columns: Columns<T>;
  /** Ids of columns this person left out; the first column names the row and stays. */
  hiddenColumns?: ReadonlySet<string> | undefined;
  /** Undefined while loading for the first time: skeleton rows stand in. */
  rows: readonly T[] | undefined;
  rowId: (row: T) => string;
  selection?: Selection | undefined;
  sort?: Sort | undefined;
  onSort?: ((sort: Sort) => void) | undefined;
};

/** The model of one page of a list. Its state lives with the caller: the sort order in the URL, hidden columns in the browser, the selection in the page. */
export function useTableModel<T extends RowData>({ columns, hiddenColumns, rows, rowId, selection, sort, onSort }: TableModelProps<T>) {
  const selected = selection?.selected;
  // Memoized, because the library takes another object for another state and renders again.
  const rowSelection = useMemo<RowSelectionState>(() => Object.fromEntries([...(selected ?? [])].map((id) => [id, true])), [selected]);
  const [key, order] = [sort?.sort, sort?.order];
  const sorting = useMemo<SortingState>(() => (key === undefined ? [] : [{ id: key, desc: order === 'desc' }]), [key, order]);
  const first = columns[0] && columnId(columns[0]);
  const columnVisibility = useMemo(
    () => Object.fromEntries([...(hiddenColumns ?? [])].map((id) => [id, id === first])),
    [hiddenColumns, first],
  );
  return useTable({
    features,
    columns,
    data: rows ?? NO_ROWS,
    getRowId: rowId,
    state: { rowSelection, sorting, columnVisibility },
    defaultColumn: { enableSorting: false },
    enableSorting: onSort !== undefined,
    manualSorting: true,
    enableMultiSort: false,
    enableSortingRemoval: false,
    sortDescFirst: true,
    onSortingChange: (updater) => {
      const [by] = functionalUpdate(updater, sorting);
      if (by) onSort?.({ sort: by.id, order: by.desc ? 'desc' : 'asc' });
    },
    enableRowSelection: selection !== undefined,
    isRowRangeSelectionEvent: (event) => (event as SelectionEvent).range,
    onRowSelectionChange: (updater) => selection?.onChange(new Set(Object.keys(functionalUpdate(updater, rowSelection)))),
  });
}

export type TableModel<T extends RowData> = ReturnType<typeof useTableModel<T>>;
/** What a row's selection handler is called with: whether the row is to be selected, and whether with every row since the last one. */
export type SelectionEvent = { target: { checked: boolean }; range: boolean };

const NO_ROWS: never[] = [];
