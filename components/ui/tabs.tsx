'use client';

import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef } from 'react';
import { Link } from '#components/ui/link.tsx';
import { cn } from './cn.ts';

export type TabLink = {
  href: string;
  label: ReactNode;
  active: boolean;
  count?: number | undefined;
  /** Shows the section in place; the link still serves new tabs and copying. */
  onSelect?: () => void;
};

/** Sections of one page, each with its own address. They are links, so that Back, new tab and sharing work. */
export function TabLinks({ tabs, label }: { tabs: readonly TabLink[]; label: string }) {
  const row = useRef<HTMLElement>(null);
  const current = tabs.find((tab) => tab.active)?.href;
  // On a phone the row scrolls sideways, and the section one is in must not be the one out of sight. Only the row moves, never the page.
  useEffect(() => {
    const link = current ? row.current?.querySelector<HTMLElement>('[aria-current]') : undefined;
    if (row.current && link)
      row.current.scrollLeft = link.offsetLeft - row.current.offsetLeft - (row.current.clientWidth - link.clientWidth) / 2;
  }, [current]);
  return (
    <nav ref={row} aria-label={label} className="-mb-px flex gap-1 overflow-x-auto border-line border-b [scrollbar-width:none]">
      {tabs.map((tab) => (
        <Link
          key={tab.href}
          href={tab.href}
          scroll={false}
          onClick={(event) => {
            if (!tab.onSelect || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
            event.preventDefault();
            tab.onSelect();
          }}
          aria-current={tab.active ? 'page' : undefined}
          className={cn(
            'relative inline-flex h-9 shrink-0 items-center gap-1.5 rounded-t-md px-2.5 text-ink-2 transition-colors focus-visible:-outline-offset-2 hover:text-ink',
            tab.active &&
              'font-medium text-ink after:absolute after:inset-x-2 after:-bottom-px after:h-0.5 after:rounded-full after:bg-accent',
          )}
        >
          {tab.label}
          {tab.count !== undefined && <span className="figures rounded-sm bg-subtle px-1 text-2xs text-ink-3">{tab.count}</span>}
        </Link>
      ))}
    </nav>
  );
}

export type SegmentedProps<V extends string> = {
  label: string;
  options: readonly { value: V; label: ReactNode; icon?: ReactNode; name?: string }[];
  value: V;
  onValueChange: (value: V) => void;
  size?: 'sm' | 'md';
};

/** One of a few, always all in view. Arrow keys move the choice, as in a radio group. */
export function Segmented<V extends string>({ label, options, value, onValueChange, size = 'md' }: SegmentedProps<V>) {
  const id = useId();
  const move = (event: KeyboardEvent, index: number) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = options[(index + step + options.length) % options.length];
    if (!next) return;
    onValueChange(next.value);
    document.getElementById(`${id}-${next.value}`)?.focus();
  };
  return (
    <div role="radiogroup" aria-label={label} className="inline-flex w-fit rounded-md border border-line-strong bg-subtle p-0.5">
      {options.map((option, index) => {
        const chosen = option.value === value;
        return (
          // biome-ignore lint/a11y/useSemanticElements: a native radio cannot hold an icon and the sliding look.
          <button
            key={option.value}
            id={`${id}-${option.value}`}
            type="button"
            role="radio"
            aria-checked={chosen}
            aria-label={option.name}
            tabIndex={chosen ? 0 : -1}
            onClick={() => onValueChange(option.value)}
            onKeyDown={(event) => move(event, index)}
            className={cn(
              'inline-flex items-center gap-1.5 rounded-sm border px-2.5 text-xs transition-colors [&_svg]:size-3.5',
              size === 'sm' ? 'h-6' : 'h-6.5',
              chosen ? 'border-line-strong bg-surface font-medium text-ink shadow-xs' : 'border-transparent text-ink-2 hoverable:text-ink',
            )}
          >
            {option.icon}
            {option.label}
          </button>
        );
      })}
    </div>
  );
}
