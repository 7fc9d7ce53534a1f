'use client';

import { momentText, useTimeStyle } from './time-style.ts';

/** Two moments as ISO times; null is open on that side. */
export type Span = { from: string | null; to: string | null };

/** A span in words, as the viewer has times written. */
export function SpanText({ from, to }: Span) {
  const style = useTimeStyle();
  const text = (at: string | null, none: string) => (at && !Number.isNaN(Date.parse(at)) ? momentText(new Date(at), style) : none);
  return (
    <span suppressHydrationWarning>
      {text(from, '…')} to {text(to, 'now')}
    </span>
  );
}
