import { type TimeStyle, zoneOf } from './time-style.ts';

export type Series = 'ok' | 'redirect' | 'client_error' | 'server_error' | 'gone';
export type Bucket = { /** ISO 8601, the start of the bucket. */ at: string } & Partial<Record<Series, number>>;

export const series: Record<Series, { label: string; fill: string }> = {
  ok: { label: '2xx', fill: 'bg-good' },
  redirect: { label: '3xx', fill: 'bg-accent' },
  client_error: { label: '4xx', fill: 'bg-warn' },
  server_error: { label: '5xx', fill: 'bg-bad' },
  gone: { label: 'Disconnected', fill: 'bg-note' },
};
/** Bottom of the stack first. */
export const order: Series[] = ['ok', 'redirect', 'client_error', 'server_error', 'gone'];

/** The bucket's time in the zone the viewer prefers; the day is left out when the label before it is of the same day. */
export function clockOf(at: string, bucketMs: number, style: TimeStyle, before?: string): string {
  const date = new Date(at);
  const day: Intl.DateTimeFormatOptions = { month: 'short', day: 'numeric' };
  const clock: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', hour12: false };
  const zone = zoneOf(style);
  const dayOf = new Intl.DateTimeFormat('en', { dateStyle: 'short', ...zone });
  const sameDay = before !== undefined && dayOf.format(new Date(before)) === dayOf.format(date);
  const options = bucketMs >= 86_400_000 ? day : sameDay ? clock : { ...day, ...clock };
  return new Intl.DateTimeFormat(undefined, { ...options, ...zone }).format(date);
}
