import type { NotificationKind } from './kinds.shared.ts';
import type { Settings } from './settings.ts';

const MINUTE = 60_000;
const DAY = 24 * 60;
/** When a daily digest leaves, in minutes of the day of its reader. */
const DAILY_AT = 8 * 60;

/**
 * When a mail about something that happened at `now` leaves: at once, with the digest of the hour or of the day, and never within quiet hours.
 * Security doesn't wait.
 */
export function mailTime(kind: NotificationKind, { digest, quiet_hours, timezone }: Settings, now: Date): Date {
  if (kind === 'security') return now;
  const at =
    digest === 'hourly'
      ? new Date(Math.floor(now.getTime() / 3_600_000 + 1) * 3_600_000)
      : digest === 'daily'
        ? nextDaily(now, timezone)
        : now;
  if (!quiet_hours) return at;
  const from = minutesOf(quiet_hours.from);
  const until = minutesOf(quiet_hours.until);
  const local = localMinutes(at, quiet_hours.timezone);
  return isWithin(local, from, until) ? atLocal(at, until, quiet_hours.timezone) : at;
}

/** Whether a minute of the day lies within [from, until), which may pass midnight. */
export const isWithin = (minute: number, from: number, until: number): boolean =>
  from < until ? minute >= from && minute < until : minute >= from || minute < until;

export const minutesOf = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3, 5));

/** Minutes since midnight on a clock of the zone. */
export function localMinutes(at: Date, timezone: string): number {
  const parts = new Intl.DateTimeFormat('en-GB', { timeZone: timezone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(at);
  return minutesOf(parts);
}

const nextDaily = (now: Date, timezone: string): Date => atLocal(now, DAILY_AT, timezone);

/** The next moment after `from` at which a clock of the zone shows this minute. A day with a change of clocks is an hour longer or shorter. */
function atLocal(from: Date, minute: number, timezone: string): Date {
  const start = Math.floor(from.getTime() / MINUTE) * MINUTE;
  const ahead = (minute - localMinutes(from, timezone) + DAY) % DAY || DAY;
  const at = new Date(start + ahead * MINUTE);
  const off = ((localMinutes(at, timezone) - minute + DAY + DAY / 2) % DAY) - DAY / 2;
  const mended = new Date(at.getTime() - off * MINUTE);
  return off === 0 || mended <= from ? at : mended;
}
