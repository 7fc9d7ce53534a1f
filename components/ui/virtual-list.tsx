'use client';

import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useRef } from 'react';
import { cn } from './cn.ts';
import { useHotkeys } from './hotkeys.ts';

export type VirtualListProps<T> = {
  items: readonly T[];
  itemKey: (item: T) => string;
  /** Pixels of one row. Rows are of one height, so that ten thousand scroll without measuring. */
  rowHeight: number;
  label: string;
  /** The row's content; the row itself is the button. */
  children: (item: T, index: number) => ReactNode;
  onOpen?: (item: T) => void;
  openKey?: string | undefined;
  /** The last rows are in view: fetch older ones. */
  onEndReached?: () => void;
  /** Whether the list stands at its top; told when that changes. A live list holds new rows back while it does not. */
  onTop?: (top: boolean) => void;
  /** The head of the columns, above the scrolling part. */
  header?: ReactNode;
  footer?: ReactNode;
  className?: string;
};

/** A long list of which only the visible rows exist. j/k move, Enter opens. */
export function VirtualList<T>(props: VirtualListProps<T>) {
  const { items, itemKey, rowHeight, label, children, onOpen, openKey, onEndReached, onTop, header, footer, className } = props;
  const viewport = useRef<HTMLDivElement>(null);
  const focused = useRef(-1);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => viewport.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    getItemKey: (index) => itemKey(items[index] as T),
  });
  const rows = virtual.getVirtualItems();
  const last = rows.at(-1)?.index ?? -1;
  const reached = useRef(onEndReached);
  useEffect(() => {
    reached.current = onEndReached;
  });
  useEffect(() => {
    if (items.length > 0 && last >= items.length - 5) reached.current?.();
  }, [last, items.length]);

  const top = useRef(true);
  const scrolled = () => {
    const now = (viewport.current?.scrollTop ?? 0) < rowHeight;
    if (now === top.current) return;
    top.current = now;
    onTop?.(now);
  };

  const move = (step: 1 | -1) => {
    const next = Math.min(Math.max(focused.current + step, 0), items.length - 1);
    focused.current = next;
    virtual.scrollToIndex(next);
    // The row may not exist until the list has scrolled to it.
    requestAnimationFrame(() => viewport.current?.querySelector<HTMLElement>(`[data-index="${next.toString()}"]`)?.focus());
  };
  useHotkeys([
    { keys: 'j', label: 'Next row', group: 'List', run: () => move(1) },
    { keys: 'k', label: 'Previous row', group: 'List', run: () => move(-1) },
    { keys: 'enter', label: 'Open row', group: 'List' },
  ]);

  return (
    <div className={cn('flex min-h-0 flex-col overflow-hidden rounded-lg border border-line-strong bg-surface', className)}>
      {header && (
        <div className="flex h-8 shrink-0 items-center border-line-strong border-b bg-subtle px-3 font-medium text-ink-3 text-xs">
          {header}
        </div>
      )}
      <div ref={viewport} onScroll={onTop && scrolled} className="min-h-0 flex-1 overflow-y-auto overscroll-contain">
        {/* biome-ignore lint/a11y/useSemanticElements: the rows are placed by position, which a <ul> with <li> would only nest deeper. */}
        <div role="list" aria-label={label} className="relative w-full" style={{ height: virtual.getTotalSize() }}>
          {rows.map((row) => {
            const item = items[row.index] as T;
            const open = openKey !== undefined && itemKey(item) === openKey;
            return (
              // biome-ignore lint/a11y/useSemanticElements: as above.
              <div
                key={row.key}
                role="listitem"
                aria-setsize={items.length}
                aria-posinset={row.index + 1}
                className="absolute inset-x-0 top-0"
                style={{ height: rowHeight, transform: `translateY(${row.start.toString()}px)` }}
              >
                <button
                  type="button"
                  data-index={row.index}
                  disabled={!onOpen}
                  aria-current={open || undefined}
                  onFocus={() => {
                    focused.current = row.index;
                  }}
                  onClick={() => onOpen?.(item)}
                  className={cn(
                    'flex size-full items-center border-line border-b px-3 text-left disabled:cursor-default disabled:text-ink hoverable:bg-subtle focus-visible:-outline-offset-2',
                    open && 'bg-subtle shadow-[inset_2px_0_0_var(--accent)]',
                  )}
                >
                  {children(item, row.index)}
                </button>
              </div>
            );
          })}
        </div>
        {footer}
      </div>
    </div>
  );
}
