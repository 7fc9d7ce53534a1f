'use client';

import { useSyncExternalStore } from 'react';
import { cn } from './cn.ts';
import { dayText, momentText, type TimeStyle, useTimeStyle, zoneOf } from './time-style.ts';
import { Tooltip } from './tooltip.tsx';

export type TimeProps = {
  /** ISO 8601 with an offset, as the API gives it. */
  value: string | null | undefined;
  /** `relative` is "3 min ago", kept current; `time` is the clock with milliseconds, for logs. */
  format?: 'relative' | 'datetime' | 'date' | 'time';
  /** Shown when there is no time: "never", "no expiry". */
  empty?: string;
  className?: string;
};

/** A moment in the zone the viewer prefers; both that and the other one on hover and focus. */
export function Time({ value, format = 'relative', empty = '—', className }: TimeProps) {
  const now = useNow(format === 'relative');
  const style = useTimeStyle();
  if (!value) return <span className={cn('text-ink-3', className)}>{empty}</span>;
  const date = new Date(value);
  // Before hydration the server's zone and clock would show; UTC is the same on both sides.
  const text = now === 0 ? date.toISOString().slice(0, 16).replace('T', ' ') : render(date, format, Date.now(), style);
  return (
    <Tooltip content={now === 0 ? date.toISOString() : <Zones date={date} />}>
      <time dateTime={value} className={cn('figures whitespace-nowrap', className)}>
        {text}
      </time>
    </Tooltip>
  );
}

function Zones({ date }: { date: Date }) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
  return (
    <span className="figures grid grid-cols-[auto_auto] gap-x-3">
      <span className="text-ink-3">{zone}</span>
      <span>{full.format(date)}</span>
      <span className="text-ink-3">UTC</span>
      <span>{date.toISOString().replace('T', ' ').replace('Z', '')}</span>
    </span>
  );
}

function render(date: Date, format: NonNullable<TimeProps['format']>, now: number, style: TimeStyle): string {
  if (format === 'relative') return relative(date.getTime() - now);
  if (format === 'date') return dayText(date, style);
  if (format === 'time') {
    return new Intl.DateTimeFormat(undefined, {
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      fractionalSecondDigits: 3,
      hour12: false,
      ...zoneOf(style),
    }).format(date);
  }
  return momentText(date, style);
}

const steps: [unit: Intl.RelativeTimeFormatUnit, ms: number][] = [
  ['year', 365 * 86_400_000],
  ['month', 30 * 86_400_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

/** "3 min ago", "in 2 days", "just now" for a distance in milliseconds; negative is the past. */
export function relative(distanceMs: number): string {
  const step = steps.find(([, ms]) => Math.abs(distanceMs) >= ms);
  if (!step) return distanceMs > 0 ? 'in less than a minute' : 'just now';
  return new Intl.RelativeTimeFormat(undefined, { style: 'short', numeric: 'always' }).format(Math.trunc(distanceMs / step[1]), step[0]);
}

/** One timer for all relative times on the page. 0 on the server and in the first render. */
function useNow(ticking: boolean): number {
  return useSyncExternalStore(
    ticking ? subscribe : still,
    () => clock,
    () => 0,
  );
}

let clock = typeof window === 'undefined' ? 0 : Date.now();
const readers = new Set<() => void>();
let ticker: ReturnType<typeof setInterval> | undefined;
const still = () => () => undefined;

function subscribe(notify: () => void): () => void {
  readers.add(notify);
  ticker ??= setInterval(() => {
    clock = Date.now();
    for (const reader of readers) reader();
  }, 30_000);
  return () => {
    readers.delete(notify);
    if (readers.size > 0) return;
    clearInterval(ticker);
    ticker = undefined;
  };
}
