/** When a token may be used (interface rule 50 §6.3): instants, ISO days (1 = Monday), and times of day on the wall clock of `tz`. */
export type ValidWindow = {
  not_before?: string | undefined;
  not_after?: string | undefined;
  days?: readonly number[] | undefined;
  from?: string | undefined;
  to?: string | undefined;
  tz?: string | undefined;
};

/**
 * Whether an instant is inside. `from` counts, `to` doesn't. With `from` after `to` the period goes over midnight and belongs to the day that it began on.
 */
export function insideWindow({ not_before, not_after, days, from, to, tz = 'UTC' }: ValidWindow, now: number): boolean {
  if (not_before !== undefined && now < Date.parse(not_before)) return false;
  if (not_after !== undefined && now >= Date.parse(not_after)) return false;
  if (days === undefined && from === undefined && to === undefined) return true;
  const { day, minute } = wallClock(tz, now);
  const start = minutesOf(from, 0);
  const end = minutesOf(to, 24 * 60);
  const onDay = (one: number) => days === undefined || days.includes(one);
  if (start <= end) return minute >= start && minute < end && onDay(day);
  if (minute >= start) return onDay(day);
  return minute < end && onDay(day === 1 ? 7 : day - 1);
}

function minutesOf(clock: string | undefined, otherwise: number): number {
  if (clock === undefined) return otherwise;
  return Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3, 5));
}

const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

function wallClock(tz: string, now: number): { day: number; minute: number } {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: tz, weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  let day = 1;
  let minute = 0;
  for (const { type, value } of format.formatToParts(now)) {
    if (type === 'weekday') day = DAYS.indexOf(value) + 1;
    else if (type === 'hour') minute += Number(value) * 60;
    else if (type === 'minute') minute += Number(value);
  }
  return { day, minute };
}
