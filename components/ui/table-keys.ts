'use client';

import type { RowData } from '@tanstack/react-table';
import { type RefObject, useEffect, useRef } from 'react';
import { useHotkeys } from './hotkeys.ts';
import type { SelectionEvent, TableModel } from './use-table-model.ts';

/** Row movement and selection by keyboard. The row that moves is the one that has focus, so what is active is always visible and read out. */
export function useTableKeys<T extends RowData>(table: TableModel<T>): RefObject<HTMLTableElement | null> {
  const tableRef = useRef<HTMLTableElement>(null);

  const move = (step: 1 | -1) => {
    const all = [...(tableRef.current?.querySelectorAll<HTMLElement>('tr[data-row]') ?? [])];
    const at = all.findIndex((row) => row.contains(document.activeElement));
    const next = at === -1 ? (step === 1 ? 0 : all.length - 1) : Math.min(Math.max(at + step, 0), all.length - 1);
    all[next]?.focus();
    all[next]?.scrollIntoView({ block: 'nearest' });
  };

  const select = (id: string, range: boolean) => {
    const row = table.getRow(id);
    const event: SelectionEvent = { target: { checked: range || !row.getIsSelected() }, range };
    row.getToggleSelectedHandler()(event);
  };
  const latestSelect = useRef(select);
  useEffect(() => {
    latestSelect.current = select;
  });
  useEffect(() => {
    const element = tableRef.current;
    const onKeyDown = (event: KeyboardEvent) => {
      const row = event.target;
      if (!(row instanceof HTMLTableRowElement) || !row.dataset.row) return;
      if (event.key === 'Enter') row.querySelector<HTMLElement>('[data-opener]')?.click();
      else if (event.key.toLowerCase() === 'x' && !event.metaKey && !event.ctrlKey) latestSelect.current(row.dataset.row, event.shiftKey);
      else return;
      event.preventDefault();
    };
    element?.addEventListener('keydown', onKeyDown);
    return () => element?.removeEventListener('keydown', onKeyDown);
  }, []);

  useHotkeys([
    { keys: 'j', label: 'Next row', group: 'List', run: () => move(1) },
    { keys: 'k', label: 'Previous row', group: 'List', run: () => move(-1) },
    { keys: 'enter', label: 'Open row', group: 'List' },
    ...(table.options.enableRowSelection
      ? [
          { keys: 'x', label: 'Select row', group: 'List' },
          { keys: 'shift+x', label: 'Select up to row', group: 'List' },
        ]
      : []),
  ]);

  return tableRef;
}
