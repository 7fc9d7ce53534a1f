'use client';

import { Pin, PinOff } from 'lucide-react';
import type { MouseEvent } from 'react';
import { flushSync } from 'react-dom';
import type { SeenItem } from './use-navigation.ts';
import { usePin } from './use-pin.ts';

/** Over the end of its row: seen under the pointer, by keyboard, and where there is no pointer to hover with. */
export function PinButton({ item: { id, label } }: { item: SeenItem }) {
  const pin = usePin(id);
  if (!pin) return null;
  const words = pin.isOn ? `Unpin ${label}` : `Pin ${label} to the top`;
  const toggle = ({ currentTarget }: MouseEvent) => {
    const rail = currentTarget.closest('nav');
    // The row is drawn anew in another group, and the keyboard goes with it at once: a later focus could take it from what was pressed next.
    flushSync(pin.toggle);
    rail?.querySelector<HTMLElement>(`[data-pin="${id}"]`)?.focus();
  };
  return (
    <button
      type="button"
      aria-label={words}
      title={words}
      data-pin={id}
      onClick={toggle}
      className="absolute inset-y-1 right-1 flex w-6 items-center justify-center rounded-sm text-ink-3 opacity-0 hover:bg-pressed hover:text-ink focus-visible:opacity-100 group-hover/row:opacity-100 pointer-coarse:w-8 pointer-coarse:opacity-100"
    >
      {pin.isOn ? <PinOff aria-hidden className="size-3.5" /> : <Pin aria-hidden className="size-3.5" />}
    </button>
  );
}
