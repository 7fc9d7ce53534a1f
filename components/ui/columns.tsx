'use client';

import type { RowData } from '@tanstack/react-table';
import { Columns3 } from 'lucide-react';
import { useMemo } from 'react';
import { Button } from './button.tsx';
import { Menu } from './dropdown-menu.tsx';
import { type Columns, columnId } from './table-columns.ts';
import { useStored } from './use-stored.ts';

export type ColumnChoice = {
  /** Columns that can be left out, in the order of the table; the first names the row and always stays. */
  all: readonly { id: string; label: string }[];
  hidden: ReadonlySet<string>;
  hide: (ids: readonly string[]) => void;
};

/** Which columns of a list this person looks at, remembered in the browser. */
export function useColumnChoice<T extends RowData>(page: string, columns: Columns<T>): ColumnChoice {
  const [stored, store] = useStored(`sp_columns_${page}`, '');
  const hidden = useMemo(() => new Set(stored.split(',').filter(Boolean)), [stored]);
  return {
    all: columns.slice(1).flatMap((column) => (typeof column.header === 'string' ? [{ id: columnId(column), label: column.header }] : [])),
    hidden,
    hide: (ids) => store(ids.join(',')),
  };
}

/** The menu that leaves columns out and brings them back. */
export function ColumnsMenu({ choice: { all, hidden, hide } }: { choice: ColumnChoice }) {
  return (
    <Menu
      trigger={<Button icon={<Columns3 />}>Columns</Button>}
      entries={[
        { heading: 'Visible columns' },
        ...all.map(({ id, label }) => ({
          label,
          checked: !hidden.has(id),
          onSelect: () => hide(hidden.has(id) ? [...hidden].filter((one) => one !== id) : [...hidden, id]),
        })),
        ...(hidden.size > 0 ? (['separator', { label: 'Show all', onSelect: () => hide([]) }] as const) : []),
      ]}
    />
  );
}
