'use client';

import type { Cell, Row, RowData } from '@tanstack/react-table';
import { MoreHorizontal } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from '#components/ui/link.tsx';
import { IconButton } from './button.tsx';
import { Checkbox } from './choices.tsx';
import { cn } from './cn.ts';
import { Menu, type MenuEntry } from './dropdown-menu.tsx';
import type { Features } from './table-columns.ts';
import type { SelectionEvent } from './use-table-model.ts';

/** Columns that leave narrow windows, as classes. */
export const hidden = {
  sm: 'max-sm:hidden',
  md: 'max-md:hidden',
  lg: 'max-lg:hidden',
  xl: 'max-xl:hidden',
  '2xl': 'max-2xl:hidden',
} as const;

type BodyRowProps<T extends RowData> = {
  row: Row<Features, T>;
  name: string;
  href: string | undefined;
  onOpen: (() => void) | undefined;
  isOpen: boolean;
  entries: readonly MenuEntry[] | undefined;
};

/** One row: its cells, the stretched link, the checkbox and the menu. */
export function BodyRow<T extends RowData>({ row, name, href, onOpen, isOpen, entries }: BodyRowProps<T>) {
  const [selectable, selected] = [row.getCanSelect(), row.getIsSelected()];
  const select = (checked: boolean) => row.getToggleSelectedHandler()({ target: { checked }, range: false } satisfies SelectionEvent);
  return (
    <tr
      data-row={row.id}
      tabIndex={-1}
      aria-selected={selectable ? selected : undefined}
      aria-current={isOpen || undefined}
      className={cn(
        'group/row relative scroll-mt-10 focus-visible:-outline-offset-2',
        (href ?? onOpen) && 'hover:bg-subtle/70',
        selected && 'bg-accent-soft hover:bg-accent-soft',
        isOpen && 'bg-subtle shadow-[inset_2px_0_0_var(--accent)]',
      )}
    >
      {selectable && (
        <td className={cn(bodyCell, 'relative z-10 w-8 pr-0')}>
          <Checkbox hideLabel label={`Select ${name}`} checked={selected} onCheckedChange={select} className="-ml-1" />
        </td>
      )}
      {row.getVisibleCells().map((cell, index) => {
        const { meta } = cell.column.columnDef;
        const rendered = contentOf(cell);
        // Above the stretched link, so that pointing at the text tells the whole of it; no wider than its cell, or it would lie over the next one.
        const whole = meta?.cap ? cell.getValue() : undefined;
        const content =
          typeof whole === 'string' ? (
            <span title={whole} className="relative z-10 block truncate">
              {rendered}
            </span>
          ) : (
            rendered
          );
        return (
          <td
            key={cell.id}
            style={meta?.cap ? { maxWidth: `min(${meta.cap}, 44vw)` } : undefined}
            className={cn(
              bodyCell,
              meta?.align === 'right' && 'figures whitespace-nowrap text-right',
              meta?.truncate && 'max-w-0 truncate',
              meta?.cap && 'truncate',
              meta?.hideBelow && hidden[meta.hideBelow],
            )}
          >
            {index === 0 ? (
              <Opener href={href} onOpen={onOpen}>
                {content}
              </Opener>
            ) : (
              content
            )}
          </td>
        );
      })}
      {entries && (
        <td
          // Where the table is wider than the window its columns scroll under this one, so it is opaque and tinted as its row.
          className={cn(
            bodyCell,
            'sticky right-0 z-10 w-10 bg-surface pr-1.5 text-right',
            (href ?? onOpen) && 'group-hover/row:bg-subtle',
            isOpen && 'bg-subtle',
            selected && 'bg-accent-soft group-hover/row:bg-accent-soft',
          )}
        >
          {entries.length > 0 && (
            <Menu
              entries={entries}
              trigger={<IconButton size="sm" label={`Actions for ${name}`} icon={<MoreHorizontal />} className="text-ink-3" />}
            />
          )}
        </td>
      )}
    </tr>
  );
}

/** Called, and not rendered as a component as `flexRender` does: where columns are built anew on each render, that would mount every cell anew. */
function contentOf<T extends RowData>(cell: Cell<Features, T>): ReactNode {
  const template = cell.column.columnDef.cell;
  return typeof template === 'function' ? template(cell.getContext()) : template;
}

const bodyCell = 'h-(--row-height) border-line border-b px-3 py-(--cell-pad) align-middle group-last/row:border-b-0';

/** The link or button of the first cell reaches over the whole row, so that the row can be clicked, middle-clicked and tabbed to once. */
function Opener({ href, onOpen, children }: { href: string | undefined; onOpen: (() => void) | undefined; children: ReactNode }) {
  const stretched =
    'max-w-full rounded-xs text-left align-middle font-medium outline-none after:absolute after:inset-0 focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-focus';
  if (href !== undefined) {
    return (
      <Link href={href} data-opener className={stretched}>
        {children}
      </Link>
    );
  }
  if (!onOpen) return children;
  return (
    <button type="button" data-opener onClick={onOpen} className={stretched}>
      {children}
    </button>
  );
}
