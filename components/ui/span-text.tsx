'use client';

import { momentText, useTimeStyle } from './time-style.ts';
import { useHydrated } from './use-hydrated.ts';

/** Two moments as ISO times; null is open on that side. */
export type Span = { from: string | null; to: string | null };

/** A span in words, as the viewer has times written. */
export function SpanText({ from, to }: Span) {
  const style = useTimeStyle();
  const inBrowser = useHydrated();
  const text = (at: string | null, none: string) => {
    if (!at || Number.isNaN(Date.parse(at))) return none;
    return inBrowser ? momentText(new Date(at), style) : new Date(at).toISOString().slice(0, 16).replace('T', ' ');
  };
  return (
    <span>
      {text(from, '…')} to {text(to, 'now')}
    </span>
  );
}
