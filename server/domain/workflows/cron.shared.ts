import { processState } from '#server/kernel/process-state.ts';

// Schedules in the zone of a place (interface rule 62 §5), on Intl's own data about zones.

export type Cron = {
  minutes: ReadonlySet<number>;
  hours: ReadonlySet<number>;
  days: ReadonlySet<number>;
  months: ReadonlySet<number>;
  weekdays: ReadonlySet<number>;
  /** `*`: of a field that names no days the other one decides, as cron does; an hour that comes twice counts twice when any hour will do. */
  any: { days: boolean; weekdays: boolean; hours: boolean };
};

const FIELDS = [
  { name: 'minute', least: 0, most: 59 },
  { name: 'hour', least: 0, most: 23 },
  { name: 'day of the month', least: 1, most: 31 },
  { name: 'month', least: 1, most: 12, names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'] },
  { name: 'day of the week', least: 0, most: 7, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
] as const;

const LONGEST = 500;

/** Five fields of numbers, names, ranges, lists and steps. @returns what is wrong, to follow the word "cron", as a text */
export function parseCron(text: string): Cron | string {
  if (text.length > LONGEST) return `must have at most ${LONGEST} characters`;
  const parts = text.trim().split(/\s+/);
  if (parts.length !== 5) return 'must have five fields: minute, hour, day, month, weekday';
  const sets: Set<number>[] = [];
  for (const [i, field] of FIELDS.entries()) {
    const set = parseField(parts[i] ?? '', field);
    if (typeof set === 'string') return set;
    sets.push(set);
  }
  const [minutes, hours, days, months, weekdays] = sets as [Set<number>, Set<number>, Set<number>, Set<number>, Set<number>];
  if (weekdays.delete(7)) weekdays.add(0);
  const any = { days: isAny(parts[2]), weekdays: isAny(parts[4]), hours: isAny(parts[1]) };
  const cron = { minutes, hours, days, months, weekdays, any };
  return nextFire(cron, 'UTC', new Date(Date.UTC(2027, 0, 1))) ? cron : 'never comes: no such day exists';
}

const isAny = (part = '') => part.startsWith('*');

type Field = { name: string; least: number; most: number; names?: readonly string[] };

function parseField(part: string, field: Field): Set<number> | string {
  const { name, least, most } = field;
  const set = new Set<number>();
  for (const item of part.split(',')) {
    const [range = '', step = '1', ...more] = item.split('/');
    const every = /^\d{1,2}$/.test(step) ? Number(step) : 0;
    const [first = '', last = first, ...rest] = range.split('-');
    const from = range === '*' ? least : numberOf(first, field);
    const to = range === '*' ? most : numberOf(last, field);
    const open = item.includes('/') && !range.includes('-') && range !== '*';
    if (every < 1 || more.length > 0 || rest.length > 0 || from === null || to === null || from > to)
      return `has a ${name} that can't be read: ${item.slice(0, 20)} (${least} to ${most})`;
    for (let n = from; n <= (open ? most : to); n += every) set.add(n);
  }
  return set;
}

function numberOf(text: string, { least, most, names = [] }: Field): number | null {
  const named = names.indexOf(text.toLowerCase());
  if (named !== -1) return named + (least === 1 ? 1 : 0);
  const n = /^\d{1,2}$/.test(text) ? Number(text) : -1;
  return n >= least && n <= most ? n : null;
}

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** The 29th of February on a weekday comes at most this many years later. */
const REACH_DAYS = 40 * 366;

export const isZone = (zone: string): boolean => {
  try {
    formatOf(zone);
    return true;
  } catch {
    return false;
  }
};

/**
 * The first time after `after`. A local time that clocks skip is the first minute after the gap; one that comes twice counts once, the first time, unless
 * any hour will do. Null when there is none. @throws RangeError for an unknown zone
 */
export function nextFire(cron: Cron, zone: string, after: Date): Date | null {
  const from = new Date(Math.floor(after.getTime() / MINUTE) * MINUTE + MINUTE);
  if (cron.any.hours) {
    const soon = nextMinute(cron, zone, from);
    if (soon) return soon;
  }
  // Days as calendar dates of the zone, held as midnight UTC. A zone's date is at most one away from that of UTC.
  const start = Math.floor(from.getTime() / DAY) * DAY - DAY;
  const minutes = [...cron.minutes].sort((a, b) => a - b);
  const hours = [...cron.hours].sort((a, b) => a - b);
  for (let day = start, n = 0; n < REACH_DAYS; day += DAY, n++) {
    if (!onDay(cron, new Date(day))) continue;
    let found: number | null = null;
    for (const hour of hours)
      for (const minute of minutes) {
        const at = instantOf(day + hour * 60 * MINUTE + minute * MINUTE, zone);
        if (at > after.getTime() && (found === null || at < found)) found = at;
      }
    if (found !== null) return new Date(found);
  }
  return null;
}

/** Where any hour will do, the minutes themselves go on through a change of clocks: within a day they are simply looked through. */
function nextMinute(cron: Cron, zone: string, from: Date): Date | null {
  for (let at = from.getTime(); at < from.getTime() + 2 * DAY; ) {
    const local = new Date(at + offsetAt(at, zone));
    if (!onDay(cron, local)) at += 60 * MINUTE - (local.getUTCMinutes() % 60) * MINUTE;
    else if (cron.minutes.has(local.getUTCMinutes())) return new Date(at);
    else at += MINUTE;
  }
  return null;
}

function onDay({ days, months, weekdays, any }: Cron, local: Date): boolean {
  if (!months.has(local.getUTCMonth() + 1)) return false;
  const [day, weekday] = [days.has(local.getUTCDate()), weekdays.has(local.getUTCDay())];
  return any.days || any.weekdays ? day && weekday : day || weekday;
}

/** The first instant at which clocks of the zone show this local time (as milliseconds UTC), or the end of the gap that skips it. */
function instantOf(local: number, zone: string): number {
  // The offsets on both sides of a change within a day.
  const offsets = [...new Set([offsetAt(local - DAY, zone), offsetAt(local + DAY, zone), offsetAt(local, zone)])];
  const instants = offsets.map((offset) => local - offset).filter((at) => at + offsetAt(at, zone) === local);
  if (instants.length > 0) return Math.min(...instants);
  // Skipped: the change lies between the two readings.
  let [low, high] = [local - Math.max(...offsets), local - Math.min(...offsets)];
  const before = offsetAt(low, zone);
  while (high - low > MINUTE) {
    const middle = Math.floor((low + high) / 2 / MINUTE) * MINUTE;
    if (offsetAt(middle, zone) === before) low = middle;
    else high = middle;
  }
  return high;
}

const formats = processState('workflow-zones', () => new Map<string, Intl.DateTimeFormat>());
function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    const parts = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' } as const;
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, calendar: 'gregory', hourCycle: 'h23', ...parts });
    if (formats.size > 100) formats.clear();
    formats.set(zone, format);
  }
  return format;
}

/** Milliseconds that clocks of the zone are ahead of UTC. */
function offsetAt(at: number, zone: string): number {
  if (zone === 'UTC') return 0;
  const part: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(at)) part[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1_000) * 1_000;
}

/** Days that come once in years, and looking for them, tell nothing more about the least gap. */
const LONG_MS = 1_500 * DAY;

/** The least minutes between two of its next runs. */
export function leastGap(cron: Cron, after: Date): number {
  let least = Number.POSITIVE_INFINITY;
  const first = nextFire(cron, 'UTC', after);
  let last = first;
  for (let n = 0; n < 100 && first && last && last.getTime() - first.getTime() < LONG_MS; n++) {
    const next = nextFire(cron, 'UTC', last);
    if (!next) break;
    least = Math.min(least, (next.getTime() - last.getTime()) / MINUTE);
    last = next;
  }
  return least;
}
