'use client';

import { ListFilter, Search, X } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Chip } from './badge.tsx';
import { Button, IconButton } from './button.tsx';
import { Menu, type MenuEntry } from './dropdown-menu.tsx';
import { useHotkeys, useWorkingKeys } from './hotkeys.ts';
import { Input } from './input.tsx';

export type ActiveFilter = {
  id: string;
  label: ReactNode;
  onRemove: () => void;
  /** Plain text of the filter, for the remove button's name. */
  text: string;
};

export type FilterBarProps = {
  /** The typed query; empty string when there is none. */
  query: string;
  /** Called 250 ms after the last key; at once, and with `entered`, on Enter and on clearing. */
  onQuery: (query: string, entered: boolean) => void;
  placeholder?: string;
  filters?: readonly ActiveFilter[];
  /** What can be added; opens as a menu. */
  choices?: readonly MenuEntry[];
  onClear?: () => void;
  /** Saved views, time range, columns: at the end of the line. */
  children?: ReactNode;
};

const PAUSE_MS = 250;

/** The filter line of a list. `/` focuses it; Esc clears it and gives focus back to the page. */
export function FilterBar({ query, onQuery, placeholder = 'Filter…', filters = [], choices, onClear, children }: FilterBarProps) {
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(query);
  const [known, setKnown] = useState(query);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // The address changed behind the field (Back, a saved view): follow it.
  if (query !== known) {
    setKnown(query);
    setTyped(query);
  }
  useEffect(() => () => clearTimeout(timer.current), []);
  const type = (text: string, at: 'once' | 'pause') => {
    setTyped(text);
    clearTimeout(timer.current);
    if (at === 'once') onQuery(text.trim(), true);
    else timer.current = setTimeout(() => onQuery(text.trim(), false), PAUSE_MS);
  };
  const slash = useWorkingKeys('/');
  useHotkeys([{ keys: '/', label: 'Filter', group: 'List', run: () => input.current?.focus() }]);
  return (
    <search className="flex flex-wrap items-center gap-2">
      <Input
        ref={input}
        aria-label={placeholder}
        aria-keyshortcuts={slash}
        icon={<Search />}
        placeholder={placeholder}
        value={typed}
        onChange={(event) => type(event.target.value, 'pause')}
        onKeyDown={(event) => {
          if (event.key === 'Enter') type(typed, 'once');
          if (event.key !== 'Escape') return;
          type('', 'once');
          input.current?.blur();
        }}
        suffix={typed && <IconButton size="sm" label="Clear" icon={<X />} onClick={() => type('', 'once')} className="-mr-1.5 size-6" />}
        className="w-full sm:w-72"
      />
      {choices && <Menu align="start" entries={choices} trigger={<Button icon={<ListFilter />}>Filter</Button>} />}
      {filters.map((filter) => (
        <Chip key={filter.id} active onRemove={filter.onRemove} removeLabel={`Remove filter ${filter.text}`}>
          {filter.label}
        </Chip>
      ))}
      {onClear && filters.length > 0 && (
        <Button size="sm" variant="ghost" onClick={onClear}>
          Clear all
        </Button>
      )}
      {children && <div className="flex flex-wrap items-center gap-2 max-sm:contents sm:ml-auto">{children}</div>}
    </search>
  );
}
