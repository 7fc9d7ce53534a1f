'use client';

import { type ReactNode, useEffect, useRef } from 'react';
import { Checkbox } from './choices.tsx';
import { cn } from './cn.ts';
import { useHotkeys } from './hotkeys.ts';
import { useWindow } from './use-window.ts';

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
  /** Rows that are marked, and how one is: by its box, or with x. */
  marks?: { has: (item: T) => boolean; toggle: (item: T) => void; label: (item: T) => string };
  /** The last rows are in view: fetch older ones. */
  onEndReached?: () => void;
  /** Whether somebody reads: has scrolled down, points at a row, or stands on one with the keyboard. A live list then holds new rows back. */
  onRead?: (reading: boolean) => void;
  /** Over the first rows: what is held back. */
  notice?: ReactNode;
  /** The head of the columns, above the scrolling part. */
  header?: ReactNode;
  footer?: ReactNode;
  className?: string;
};

const FOLLOW_MS = 150;

/** A long list of which only the visible rows exist. j/k move, Enter opens; with a row open, moving opens the next. */
export function VirtualList<T>(props: VirtualListProps<T>) {
  const { items, itemKey, rowHeight, label, children, onOpen, openKey, marks, onEndReached, onRead, notice, header, footer, className } =
    props;
  const viewport = useRef<HTMLDivElement>(null);
  // By key, not by place: rows that come in above must not move the reader.
  const focused = useRef<string>(undefined);
  const follow = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(follow.current), []);
  const { from, to, show } = useWindow(viewport, items.length, rowHeight);
  const last = to - 1;
  const reached = useRef(onEndReached);
  useEffect(() => {
    reached.current = onEndReached;
  });
  useEffect(() => {
    if (items.length > 0 && last >= items.length - 5) reached.current?.();
  }, [last, items.length]);

  const reading = useRef({ scrolled: false, pointed: false, focused: false });
  const read = (part: Partial<typeof reading.current>) => {
    const before = Object.values(reading.current).some(Boolean);
    Object.assign(reading.current, part);
    const now = Object.values(reading.current).some(Boolean);
    if (now !== before) onRead?.(now);
  };

  const at = () => items.findIndex((item) => itemKey(item) === (focused.current ?? openKey));
  const move = (step: 1 | -1) => {
    const next = Math.min(Math.max(at() + step, 0), items.length - 1);
    const item = items[next];
    if (item === undefined) return;
    focused.current = itemKey(item);
    show(next);
    // The row may not exist until the list has scrolled to it.
    requestAnimationFrame(() => viewport.current?.querySelector<HTMLElement>(`[data-index="${next.toString()}"]`)?.focus());
    if (openKey === undefined) return;
    // Held down, a key passes many rows: only the one it stops at is opened.
    clearTimeout(follow.current);
    follow.current = setTimeout(() => onOpen?.(item), FOLLOW_MS);
  };
  useHotkeys([
    { keys: 'j', label: 'Next row', group: 'List', run: () => move(1) },
    { keys: 'k', label: 'Previous row', group: 'List', run: () => move(-1) },
    { keys: 'enter', label: 'Open row', group: 'List' },
    ...(marks
      ? [
          {
            keys: 'x',
            label: 'Select row',
            group: 'List',
            run: () => {
              const item = items[at()];
              if (item !== undefined) marks.toggle(item);
            },
          },
        ]
      : []),
  ]);

  return (
    <div className={cn('relative flex min-h-0 flex-col overflow-hidden rounded-lg border border-line-strong bg-surface', className)}>
      {header && (
        <div
          className={cn(
            'flex h-8 shrink-0 items-center border-line-strong border-b bg-subtle px-3 font-medium text-ink-3 text-xs',
            marks && 'pl-9',
          )}
        >
          {header}
        </div>
      )}
      {notice && <div className="pointer-events-none absolute inset-x-0 top-10 z-10 flex justify-center">{notice}</div>}
      <div
        ref={viewport}
        onScroll={() => read({ scrolled: (viewport.current?.scrollTop ?? 0) >= rowHeight })}
        onPointerEnter={(event) => event.pointerType === 'mouse' && read({ pointed: true })}
        onPointerLeave={() => read({ pointed: false })}
        className="min-h-0 flex-1 overflow-y-auto overscroll-contain"
      >
        {/* biome-ignore lint/a11y/useSemanticElements: the rows are placed by position, which a <ul> with <li> would only nest deeper. */}
        <div role="list" aria-label={label} className="relative w-full" style={{ height: items.length * rowHeight }}>
          {items.slice(from, to).map((item, at) => {
            const index = from + at;
            const open = openKey !== undefined && itemKey(item) === openKey;
            return (
              // biome-ignore lint/a11y/useSemanticElements: as above.
              <div
                key={itemKey(item)}
                role="listitem"
                aria-setsize={items.length}
                aria-posinset={index + 1}
                className="absolute inset-x-0 top-0"
                style={{ height: rowHeight, transform: `translateY(${(index * rowHeight).toString()}px)` }}
              >
                <button
                  type="button"
                  data-index={index}
                  disabled={!onOpen}
                  aria-current={open || undefined}
                  onFocus={(event) => {
                    focused.current = itemKey(item);
                    read({ focused: event.currentTarget.matches(':focus-visible') });
                  }}
                  onBlur={() => read({ focused: false })}
                  onClick={() => onOpen?.(item)}
                  className={cn(
                    'flex size-full items-center border-line border-b px-3 text-left disabled:cursor-default disabled:text-ink hoverable:bg-subtle focus-visible:-outline-offset-2',
                    marks && 'pl-9',
                    marks?.has(item) && 'bg-accent-soft hoverable:bg-accent-soft',
                    open && 'bg-subtle shadow-[inset_2px_0_0_var(--accent)]',
                  )}
                >
                  {children(item, index)}
                </button>
                {marks && (
                  <Checkbox
                    hideLabel
                    label={marks.label(item)}
                    checked={marks.has(item)}
                    onCheckedChange={() => marks.toggle(item)}
                    className="absolute inset-y-0 left-0 items-center px-2.5"
                  />
                )}
              </div>
            );
          })}
        </div>
        {footer}
      </div>
    </div>
  );
}
