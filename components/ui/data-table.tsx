'use client';

import type { Header, RowData } from '@tanstack/react-table';
import { ArrowDown, ArrowUp, ChevronsUpDown } from 'lucide-react';
import type { ReactNode } from 'react';
import { Checkbox } from './choices.tsx';
import { cn } from './cn.ts';
import type { MenuEntry } from './dropdown-menu.tsx';
import type { Features } from './table-columns.ts';
import { useTableKeys } from './table-keys.ts';
import { BodyRow, hidden } from './table-row.tsx';
import { type TableModel, type TableModelProps, useTableModel } from './use-table-model.ts';

export type DataTableProps<T extends RowData> = TableModelProps<T> & {
  /** Names the row for its checkbox, menu and link. */
  rowName: (row: T) => string;
  /** What the table lists, for screen readers. */
  caption: string;
  /** The row's page; the first cell becomes the link and the whole row follows it. */
  rowHref?: (row: T) => string;
  /** Or: open the row in place (details panel). */
  onOpen?: (row: T) => void;
  /** The row shown in the details panel. */
  openId?: string | undefined;
  actions?: (row: T) => readonly MenuEntry[];
  /** Shown instead of rows when there are none. */
  empty?: ReactNode;
  skeletonRows?: number;
  /** Newer rows are being fetched behind the ones shown. */
  refreshing?: boolean;
  className?: string;
};

/** The one table of the dashboard. j/k move, Enter opens, x selects, Shift+x selects a range. */
export function DataTable<T extends RowData>(props: DataTableProps<T>) {
  const { rows, rowName, caption, rowHref, onOpen, openId, actions, selection, empty, skeletonRows = 8, refreshing, className } = props;
  const table = useTableModel(props);
  const tableRef = useTableKeys(table);
  const headers = table.getHeaderGroups()[0]?.headers ?? [];
  const span = headers.length + (selection ? 1 : 0) + (actions ? 1 : 0);
  if (rows?.length === 0 && empty) return <>{empty}</>;
  return (
    <div className={cn('relative min-w-0 overflow-x-auto rounded-lg border border-line-strong bg-surface', className)}>
      <table ref={tableRef} aria-busy={refreshing || !rows || undefined} className="w-full border-separate border-spacing-0">
        <caption className="sr-only">{caption}</caption>
        <thead>
          <tr>
            {selection && (
              <th className={cn(headCell, 'w-8 pr-0')}>
                <SelectAll table={table} />
              </th>
            )}
            {headers.map((header, index) => {
              const { meta } = header.column.columnDef;
              const sorted = header.column.getIsSorted();
              return (
                <th
                  key={header.id}
                  scope="col"
                  style={{ width: meta?.width }}
                  aria-sort={sorted ? (sorted === 'asc' ? 'ascending' : 'descending') : undefined}
                  className={cn(
                    headCell,
                    meta?.align === 'right' && 'text-right',
                    meta?.hideBelow && hidden[meta.hideBelow],
                    // A share of a table of few columns: on a phone most are gone, and the first takes what they leave.
                    index === 0 && meta?.width?.endsWith('%') && 'max-sm:w-full!',
                  )}
                >
                  {header.column.getCanSort() ? <SortButton header={header} /> : labelOf(header)}
                </th>
              );
            })}
            {actions && (
              <th className={cn(headCell, 'right-0 w-10')}>
                <span className="sr-only">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody className={cn('transition-opacity', refreshing && 'opacity-70')}>
          {rows
            ? table
                .getRowModel()
                .rows.map((row) => (
                  <BodyRow
                    key={row.id}
                    row={row}
                    name={rowName(row.original)}
                    href={rowHref?.(row.original)}
                    onOpen={onOpen && (() => onOpen(row.original))}
                    isOpen={openId === row.id}
                    entries={actions?.(row.original)}
                  />
                ))
            : Array.from({ length: skeletonRows }, (_, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike.
                <tr key={index} aria-hidden>
                  <td colSpan={span} className="h-(--row-height) border-line border-b px-3">
                    <span
                      className="keep-fill block h-3.5 animate-shimmer rounded-xs bg-pressed"
                      style={{ width: `${(82 - ((index * 13) % 34)).toString()}%` }}
                    />
                  </td>
                </tr>
              ))}
        </tbody>
      </table>
    </div>
  );
}

const headCell =
  'sticky top-0 z-20 h-8 whitespace-nowrap border-line-strong border-b bg-subtle px-3 text-left align-middle font-medium text-ink-3 text-xs';

function SelectAll<T extends RowData>({ table }: { table: TableModel<T> }) {
  const [all, some] = [table.getIsAllRowsSelected(), table.getCoreRowModel().rows.some((row) => row.getIsSelected())];
  return (
    <Checkbox
      hideLabel
      label="Select all rows on this page"
      checked={all}
      indeterminate={some && !all}
      onCheckedChange={(checked) => table.toggleAllRowsSelected(checked)}
      className="-ml-1"
    />
  );
}

function SortButton<T extends RowData>({ header }: { header: Header<Features, T> }) {
  const order = header.column.getIsSorted();
  const Icon = order === 'asc' ? ArrowUp : order === 'desc' ? ArrowDown : ChevronsUpDown;
  return (
    <button
      type="button"
      onClick={header.column.getToggleSortingHandler()}
      className={cn('-mx-1 inline-flex h-6 items-center gap-1 rounded-sm px-1 hoverable:text-ink', order && 'text-ink')}
    >
      {labelOf(header)}
      <Icon aria-hidden className={cn('size-3', !order && 'opacity-60')} />
    </button>
  );
}

function labelOf<T extends RowData>(header: Header<Features, T>): ReactNode {
  const template = header.column.columnDef.header;
  return typeof template === 'function' ? template(header.getContext()) : template;
}
