/** From one time of the day to another in a timezone; over midnight when `to` is not after `from`. */
export type QuietHours = { from: string; to: string; timezone: string; except_critical: boolean };

const MINUTE = 60_000;
const DAY_MINUTES = 1_440;

/** Whether a moment is within quiet hours. `from` is, `to` is not. */
export function isQuiet(hours: QuietHours | null, at: Date): boolean {
  if (hours === null) return false;
  const [from, to, now] = [minuteOf(hours.from), minuteOf(hours.to), localMinute(at, hours.timezone)];
  return from < to ? now >= from && now < to : from > to && (now >= from || now < to);
}

/**
 * When a message that comes up at `at` may leave: now, or at the end of the quiet hours. Found minute by minute on the clock of the timezone, so that a night
 * with a change of the clock ends when its clock says so.
 */
export function quietUntil(hours: QuietHours | null, at: Date): Date {
  if (!isQuiet(hours, at)) return at;
  const whole = Math.floor(at.getTime() / MINUTE) * MINUTE;
  for (let step = 1; step <= DAY_MINUTES + 120; step++) {
    const next = new Date(whole + step * MINUTE);
    if (!isQuiet(hours, next)) return next;
  }
  return at;
}

const minuteOf = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3, 5));

function localMinute(at: Date, timeZone: string): number {
  const parts = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(at);
  return minuteOf(parts);
}
