'use client';

import { useSyncExternalStore } from 'react';
import { Tooltip } from '#components/ui/tooltip.tsx';
import { clockText } from './ttl-text.ts';

type Props = {
  /** ISO 8601. */
  until: string;
  /** Stands there afterwards. */
  over?: string;
};

/** The time that is left until a moment, every second. */
export function Countdown({ until, over = 'now' }: Props) {
  const now = useSyncExternalStore(
    subscribe,
    () => clock,
    () => 0,
  );
  const left = (Date.parse(until) - now) / 1_000;
  return (
    <Tooltip content={until.replace('T', ' ').slice(0, 19).concat(' UTC')}>
      <time dateTime={until} className="figures whitespace-nowrap">
        {/* Before hydration there is no clock that both sides share. */}
        {now === 0 ? until.slice(11, 16) : left > 0 ? clockText(left) : over}
      </time>
    </Tooltip>
  );
}

let clock = typeof window === 'undefined' ? 0 : Date.now();
const readers = new Set<() => void>();
let ticker: ReturnType<typeof setInterval> | undefined;

/** One timer for all of a page. */
function subscribe(notify: () => void): () => void {
  readers.add(notify);
  clock = Date.now();
  ticker ??= setInterval(() => {
    clock = Date.now();
    for (const reader of readers) reader();
  }, 1_000);
  return () => {
    readers.delete(notify);
    if (readers.size > 0) return;
    clearInterval(ticker);
    ticker = undefined;
  };
}
