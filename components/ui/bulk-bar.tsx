'use client';

import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { IconButton } from './button.tsx';
import { counted } from './numbers.ts';

type BulkBarProps = {
  count: number;
  /** One of them: "route". */
  noun: string;
  onClear: () => void;
  children: ReactNode;
};

/** What can be done to the selected rows. It floats over the list's foot while anything is selected, so no row moves. */
export function BulkBar({ count, noun, onClear, children }: BulkBarProps) {
  return (
    <div aria-live="polite" className="pointer-events-none sticky bottom-4 z-30 flex justify-center empty:hidden">
      {count > 0 && (
        <div className="popup-surface pointer-events-auto flex items-center gap-2 py-1.5 pr-1.5 pl-3">
          <span className="figures mr-1 text-ink-2">{counted(count, noun)} selected</span>
          {children}
          <IconButton size="sm" label="Clear selection" icon={<X />} onClick={onClear} />
        </div>
      )}
    </div>
  );
}
