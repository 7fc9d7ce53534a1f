'use client';

import { createContext, useContext } from 'react';

/** How a person wants moments written: in which zone, and days in which order (null: as their browser's language has it). */
export type TimeStyle = { times: 'local' | 'utc'; date_format: string | null };

export const TimeStyleContext = createContext<TimeStyle>({ times: 'local', date_format: null });

/** How the person has times written. */
export const useTimeStyle = (): TimeStyle => useContext(TimeStyleContext);

/** For Intl: UTC, or the zone of the viewer. */
export const zoneOf = ({ times }: TimeStyle): { timeZone?: string } => (times === 'utc' ? { timeZone: 'UTC' } : {});

/** A day: `2026-11-21`, `21/11/2026`, `11/21/2026`, or as the language has it. */
export function dayText(date: Date, style: TimeStyle): string {
  const zone = zoneOf(style);
  if (style.date_format === null) return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', ...zone }).format(date);
  const parts = new Intl.DateTimeFormat('en-u-ca-gregory-nu-latn', {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    ...zone,
  }).formatToParts(date);
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? '';
  const [y, m, d] = [part('year'), part('month'), part('day')];
  if (style.date_format === 'iso') return `${y}-${m}-${d}`;
  return style.date_format === 'dmy' ? `${d}/${m}/${y}` : `${m}/${d}/${y}`;
}

/** A day and the time of it, to the minute. */
export function momentText(date: Date, style: TimeStyle): string {
  const zone = zoneOf(style);
  if (style.date_format === null)
    return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short', ...zone }).format(date);
  const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short', ...zone }).format(date);
  return `${dayText(date, style)}, ${clock}`;
}
