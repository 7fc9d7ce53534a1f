'use client';

import { MoreHorizontal } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from '#components/ui/link.tsx';
import { IconButton } from './button.tsx';
import { Checkbox } from './choices.tsx';
import { cn } from './cn.ts';
import { Menu, type MenuEntry } from './dropdown-menu.tsx';
import type { Columns } from './table-columns.ts';
import type { Selection } from './table-keys.ts';

/** Columns that leave narrow windows, as classes. */
export const hidden = {
  sm: 'max-sm:hidden',
  md: 'max-md:hidden',
  lg: 'max-lg:hidden',
  xl: 'max-xl:hidden',
  '2xl': 'max-2xl:hidden',
} as const;

type BodyRowProps<T> = {
  id: string;
  row: T;
  columns: Columns<T>;
  name: string;
  href: string | undefined;
  onOpen: (() => void) | undefined;
  isOpen: boolean;
  entries: readonly MenuEntry[] | undefined;
  selection: Selection | undefined;
  toggle: (id: string, range: boolean) => void;
};

/** One row: its cells, the stretched link, the checkbox and the menu. */
export function BodyRow<T>({ id, row, columns, name, href, onOpen, isOpen, entries, selection, toggle }: BodyRowProps<T>) {
  const selected = selection?.selected.has(id) ?? false;
  return (
    <tr
      data-row={id}
      tabIndex={-1}
      aria-selected={selection ? selected : undefined}
      aria-current={isOpen || undefined}
      className={cn(
        'group/row relative scroll-mt-10 focus-visible:-outline-offset-2',
        (href ?? onOpen) && 'hover:bg-subtle/70',
        selected && 'bg-accent-soft hover:bg-accent-soft',
        isOpen && 'bg-subtle shadow-[inset_2px_0_0_var(--accent)]',
      )}
    >
      {selection && (
        <td className={cn(bodyCell, 'relative z-10 w-8 pr-0')}>
          <Checkbox hideLabel label={`Select ${name}`} checked={selected} onCheckedChange={() => toggle(id, false)} className="-ml-1" />
        </td>
      )}
      {columns.map(({ id: columnId, meta, value, cell }, index) => {
        const rendered = cell(row);
        // Above the stretched link, so that pointing at the text tells the whole of it; no wider than its cell, or it would lie over the next one.
        const whole = meta?.cap ? value(row) : undefined;
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
            key={columnId}
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
