'use client';

import { ArrowDown, ArrowUp, ChevronsUpDown } from 'lucide-react';
import type { ReactNode } from 'react';
import { Checkbox } from './choices.tsx';
import { cn } from './cn.ts';
import type { MenuEntry } from './dropdown-menu.tsx';
import type { Columns } from './table-columns.ts';
import { type Selection, useTableKeys } from './table-keys.ts';
import { BodyRow, hidden } from './table-row.tsx';

export type Sort = { sort: string; order: 'asc' | 'desc' };

export type DataTableProps<T> = {
  columns: Columns<T>;
  /** Undefined while loading for the first time: skeleton rows stand in. */
  rows: readonly T[] | undefined;
  rowId: (row: T) => string;
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
  selection?: Selection;
  sort?: Sort | undefined;
  onSort?: (sort: Sort) => void;
  /** Shown instead of rows when there are none. */
  empty?: ReactNode;
  skeletonRows?: number;
  /** Newer rows are being fetched behind the ones shown. */
  refreshing?: boolean;
  className?: string;
};

/** The one table of the dashboard. j/k move, Enter opens, x selects, Shift+x selects a range. */
export function DataTable<T>(props: DataTableProps<T>) {
  const {
    columns,
    rows,
    rowId,
    rowName,
    caption,
    rowHref,
    onOpen,
    openId,
    actions,
    selection,
    sort,
    onSort,
    empty,
    skeletonRows = 8,
    refreshing,
    className,
  } = props;
  const ids = rows?.map(rowId) ?? [];
  const keys = useTableKeys({ ids, selection });
  const span = columns.length + (selection ? 1 : 0) + (actions ? 1 : 0);
  if (rows?.length === 0 && empty) return <>{empty}</>;
  return (
    <div className={cn('relative min-w-0 overflow-x-auto rounded-lg border border-line-strong bg-surface', className)}>
      <table ref={keys.tableRef} aria-busy={refreshing || !rows || undefined} className="w-full border-separate border-spacing-0">
        <caption className="sr-only">{caption}</caption>
        <thead>
          <tr>
            {selection && (
              <th className={cn(headCell, 'w-8 pr-0')}>
                <SelectAll ids={ids} selection={selection} />
              </th>
            )}
            {columns.map(({ id, header, meta }, index) => {
              const current = meta?.sort && sort?.sort === meta.sort ? sort.order : undefined;
              return (
                <th
                  key={id}
                  scope="col"
                  style={{ width: meta?.width }}
                  aria-sort={current && (current === 'asc' ? 'ascending' : 'descending')}
                  className={cn(
                    headCell,
                    meta?.align === 'right' && 'text-right',
                    meta?.hideBelow && hidden[meta.hideBelow],
                    // A share of a table of few columns: on a phone most are gone, and the first takes what they leave.
                    index === 0 && meta?.width?.endsWith('%') && 'max-sm:w-full!',
                  )}
                >
                  {meta?.sort && onSort ? (
                    <SortButton label={header} order={current} onSort={(order) => onSort({ sort: meta.sort ?? '', order })} />
                  ) : (
                    header
                  )}
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
            ? rows.map((row) => (
                <BodyRow
                  key={rowId(row)}
                  id={rowId(row)}
                  row={row}
                  columns={columns}
                  name={rowName(row)}
                  href={rowHref?.(row)}
                  onOpen={onOpen && (() => onOpen(row))}
                  isOpen={openId === rowId(row)}
                  entries={actions?.(row)}
                  selection={selection}
                  toggle={keys.toggle}
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

function SelectAll({ ids, selection }: { ids: readonly string[]; selection: Selection }) {
  const count = ids.filter((id) => selection.selected.has(id)).length;
  const change = (all: boolean) => {
    const next = new Set(selection.selected);
    for (const id of ids) all ? next.add(id) : next.delete(id);
    selection.onChange(next);
  };
  return (
    <Checkbox
      hideLabel
      label="Select all rows on this page"
      checked={count > 0 && count === ids.length}
      indeterminate={count > 0 && count < ids.length}
      onCheckedChange={change}
      className="-ml-1"
    />
  );
}

function SortButton({
  label,
  order,
  onSort,
}: {
  label: ReactNode;
  order: 'asc' | 'desc' | undefined;
  onSort: (order: 'asc' | 'desc') => void;
}) {
  const Icon = order === 'asc' ? ArrowUp : order === 'desc' ? ArrowDown : ChevronsUpDown;
  return (
    <button
      type="button"
      onClick={() => onSort(order === 'desc' ? 'asc' : 'desc')}
      className={cn('-mx-1 inline-flex h-6 items-center gap-1 rounded-sm px-1 hoverable:text-ink', order && 'text-ink')}
    >
      {label}
      <Icon aria-hidden className={cn('size-3', !order && 'opacity-60')} />
    </button>
  );
}
