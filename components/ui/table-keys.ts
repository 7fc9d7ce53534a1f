'use client';

import { type RefObject, useEffect, useRef } from 'react';
import { useHotkeys } from './hotkeys.ts';

export type Selection = { selected: ReadonlySet<string>; onChange: (selected: Set<string>) => void };

/** Row movement and selection by keyboard. The row that moves is the one that has focus, so what is active is always visible and read out. */
export function useTableKeys({ ids, selection }: { ids: readonly string[]; selection: Selection | undefined }) {
  const tableRef = useRef<HTMLTableElement>(null);
  const anchor = useRef<string>(undefined);

  const rows = () => [...(tableRef.current?.querySelectorAll<HTMLElement>('tr[data-row]') ?? [])];
  const move = (step: 1 | -1) => {
    const all = rows();
    const at = all.findIndex((row) => row.contains(document.activeElement));
    const next = at === -1 ? (step === 1 ? 0 : all.length - 1) : Math.min(Math.max(at + step, 0), all.length - 1);
    all[next]?.focus();
    all[next]?.scrollIntoView({ block: 'nearest' });
  };

  const toggle = (id: string, range: boolean) => {
    if (!selection) return;
    const next = new Set(selection.selected);
    const from = range && anchor.current !== undefined ? ids.indexOf(anchor.current) : -1;
    const to = ids.indexOf(id);
    if (from >= 0) for (const each of ids.slice(Math.min(from, to), Math.max(from, to) + 1)) next.add(each);
    else if (!next.delete(id)) next.add(id);
    anchor.current = id;
    selection.onChange(next);
  };

  const latestToggle = useRef(toggle);
  useEffect(() => {
    latestToggle.current = toggle;
  });
  useEffect(() => {
    const table = tableRef.current;
    const onKeyDown = (event: KeyboardEvent) => {
      const row = event.target;
      if (!(row instanceof HTMLTableRowElement) || !row.dataset.row) return;
      if (event.key === 'Enter') row.querySelector<HTMLElement>('[data-opener]')?.click();
      else if (event.key.toLowerCase() === 'x' && !event.metaKey && !event.ctrlKey) latestToggle.current(row.dataset.row, event.shiftKey);
      else return;
      event.preventDefault();
    };
    table?.addEventListener('keydown', onKeyDown);
    return () => table?.removeEventListener('keydown', onKeyDown);
  }, []);

  useHotkeys([
    { keys: 'j', label: 'Next row', group: 'List', run: () => move(1) },
    { keys: 'k', label: 'Previous row', group: 'List', run: () => move(-1) },
    { keys: 'enter', label: 'Open row', group: 'List' },
    ...(selection
      ? [
          { keys: 'x', label: 'Select row', group: 'List' },
          { keys: 'shift+x', label: 'Select up to row', group: 'List' },
        ]
      : []),
  ]);

  return { tableRef: tableRef as RefObject<HTMLTableElement>, toggle };
}
