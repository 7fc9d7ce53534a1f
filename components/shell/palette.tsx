'use client';

import { Dialog as Base } from '@base-ui/react/dialog';
import { Search, TriangleAlert } from 'lucide-react';
import { useEffect, useId, useRef, useState } from 'react';
import { Kbd } from '#components/ui/kbd.tsx';
import { scrim } from '#components/ui/scrim.ts';
import { Spinner } from '#components/ui/spinner.tsx';
import { arrangeGroups, type PaletteGroup, type PaletteItem } from './palette-order.ts';
import { queryText, SAFE_LENGTH } from './query-text.ts';
import { useSelection } from './use-selection.ts';

export type PaletteProps = {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  groups: readonly PaletteGroup[];
  /** What the field holds, for a server search; never more than the first eight characters of something that looks like a credential. */
  onQuery?: ((query: string) => void) | undefined;
  searching?: boolean | undefined;
  /** A search that failed, in words. */
  problem?: string | undefined;
};

/** Go anywhere, do anything, find anything. `>` lists actions only, `@` members, `?` what the API can do. */
export function Palette({ open, onOpenChange, groups, onQuery, searching, problem }: PaletteProps) {
  const [query, setQuery] = useState('');
  const [warned, setWarned] = useState(false);
  const [wasOpen, setWasOpen] = useState(open);
  if (open !== wasOpen) {
    setWasOpen(open);
    setQuery('');
    setWarned(false);
  }
  const type = (text: string) => {
    const { kept, credential } = queryText(text);
    setWarned(credential || (warned && text.length >= SAFE_LENGTH));
    setQuery(kept);
    onQuery?.(kept);
  };
  const shown = arrangeGroups(groups, query);
  const items = shown.flatMap((group) => group.items);
  const selection = useSelection(
    items.map(({ id }) => id),
    query,
  );
  const domId = useId();
  const optionId = (id: string) => `${domId}-${id}`;
  const list = useRef<HTMLDivElement>(null);
  const selected = selection.current === undefined ? undefined : optionId(selection.current);
  useEffect(() => {
    const option = selected === undefined ? null : document.getElementById(selected);
    // With the first option its heading comes into view too.
    if (option && option === list.current?.querySelector('[role="option"]')) list.current.scrollTop = 0;
    else option?.scrollIntoView({ block: 'nearest' });
  }, [selected]);
  const run = (item: PaletteItem) => {
    onOpenChange(false);
    item.run();
  };
  return (
    <Base.Root open={open} onOpenChange={onOpenChange}>
      <Base.Portal>
        <Base.Backdrop className={scrim} />
        <Base.Popup
          aria-modal="true"
          aria-label="Command palette"
          className="popup-surface fixed inset-x-3 top-3 z-60 mx-auto flex max-h-[min(32rem,88dvh)] max-w-xl flex-col overflow-hidden rounded-xl transition-[opacity,scale] duration-120 ease-out data-ending-style:scale-98 data-starting-style:scale-98 data-ending-style:opacity-0 data-starting-style:opacity-0 sm:top-[12vh]"
        >
          <div className="flex h-12 shrink-0 items-center gap-2.5 border-line border-b px-4">
            <Search aria-hidden className="size-4 shrink-0 text-ink-3" />
            <input
              type="text"
              role="combobox"
              aria-label="Command palette"
              aria-autocomplete="list"
              aria-expanded="true"
              aria-controls={domId}
              aria-activedescendant={selected}
              autoComplete="off"
              autoCorrect="off"
              spellCheck={false}
              value={query}
              onChange={(event) => type(event.target.value)}
              onKeyDown={(event) =>
                selection.onKeyDown(event, (id) => {
                  const chosen = items.find((item) => item.id === id);
                  if (chosen) run(chosen);
                })
              }
              placeholder="Search or jump to… Type > for actions, @ for members, ? for the API"
              className="h-full min-w-0 flex-1 bg-transparent text-base outline-none placeholder:text-ink-3"
            />
            {searching && <Spinner label="Searching" className="text-ink-3" />}
          </div>
          {warned && (
            <p role="alert" className="flex items-start gap-2 border-line border-b bg-warn-soft px-4 py-2 text-warn-ink text-xs">
              <TriangleAlert aria-hidden className="mt-0.5 size-3.5 shrink-0" />
              That looks like a credential. Only its first {SAFE_LENGTH} characters are searched; the rest never leaves this page.
            </p>
          )}
          {problem && (
            <p role="status" className="border-line border-b px-4 py-2 text-bad-ink text-xs">
              {problem}
            </p>
          )}
          {/* Beside the list, not in it: a list box holds options only. */}
          {items.length === 0 && <p className="px-4 pt-9 pb-7 text-center text-ink-3">{searching ? 'Searching…' : 'No results.'}</p>}
          <div
            ref={list}
            id={domId}
            role="listbox"
            tabIndex={-1}
            aria-label="Results"
            className="min-h-0 flex-1 overflow-y-auto overscroll-contain p-1.5"
          >
            {shown.map((group) => (
              // biome-ignore lint/a11y/useSemanticElements: a fieldset is no group of options.
              <div key={group.heading} role="group" aria-label={group.heading}>
                <div aria-hidden className="px-2 pt-2 pb-1 text-ink-3 text-xs">
                  {group.heading}
                </div>
                {group.items.map((item) => (
                  // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys.
                  <div
                    key={item.id}
                    id={optionId(item.id)}
                    role="option"
                    tabIndex={-1}
                    aria-selected={item.id === selection.current}
                    onClick={() => run(item)}
                    onPointerMove={(event) => {
                      // A list that moves under a resting pointer sends this event too.
                      if (event.movementX !== 0 || event.movementY !== 0) selection.select(item.id);
                    }}
                    className="flex min-h-9 cursor-pointer select-none items-center gap-2.5 rounded-md px-2 py-1 aria-selected:bg-pressed/70 [&>svg]:size-4 [&>svg]:shrink-0 [&>svg]:text-ink-3"
                  >
                    {item.icon}
                    <span className="min-w-0 flex-1 truncate">
                      {item.label}
                      {item.detail && <span className="ml-2 text-ink-3">{item.detail}</span>}
                    </span>
                    {item.badge}
                    {item.keys && <Kbd keys={item.keys} className="max-sm:hidden" />}
                  </div>
                ))}
              </div>
            ))}
          </div>
          <footer className="flex h-9 shrink-0 items-center gap-4 border-line border-t bg-subtle px-4 text-2xs text-ink-3 max-sm:hidden">
            <span className="flex items-center gap-1.5">
              <Kbd keys="arrowup" />
              <Kbd keys="arrowdown" /> Navigate
            </span>
            <span className="flex items-center gap-1.5">
              <Kbd keys="enter" /> Open
            </span>
            <span className="flex items-center gap-1.5">
              <Kbd keys="escape" /> Close
            </span>
          </footer>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
