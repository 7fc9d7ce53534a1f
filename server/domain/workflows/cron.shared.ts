import { Cron as Croner, CronPattern } from 'croner';

// Schedules in the zone of a place (interface rule 62 §5). croner reads the fields and finds the times; this file says which expressions are taken, and
// which local times follow the clock.

/** An expression as croner gets it: `parseCron` makes it. */
export type Cron = { pattern: string };

const FIELDS = [
  { name: 'minute', size: 60, range: '0 to 59', value: /^\d{1,2}$/ },
  { name: 'hour', size: 24, range: '0 to 23', value: /^\d{1,2}$/ },
  { name: 'day of the month', size: 31, range: '1 to 31', value: /^\d{1,2}$/ },
  { name: 'month', size: 12, range: '1 to 12 or jan to dec', value: /^(?:\d{1,2}|[a-z]{3})$/i },
  { name: 'day of the week', size: 7, range: '0 to 7 or sun to sat', value: /^(?:\d{1,2}|[a-z]{3})$/i },
] as const;

/** Days of the longest such month. */
const MONTH_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const LONGEST = 500;
/** Lists and ranges of hours are times of day, and a number may have a step: `5/20` is `5-59/20`. */
const OPTIONS = { mode: '5-part', fixedTimeRule: 'no-wildcard', sloppyRanges: true } as const;

/**
 * Five fields of numbers, names, ranges, lists and steps; no nicknames (`@daily`), seconds, `?`, `L`, `W` or `#`.
 * @returns what is wrong, to follow the word "cron", as a text
 */
export function parseCron(text: string): Cron | string {
  if (text.length > LONGEST) return `must have at most ${LONGEST} characters`;
  const parts = text.trim().split(/\s+/).map(withStepsInField);
  if (parts.length !== FIELDS.length) return 'must have five fields: minute, hour, day, month, weekday';
  for (const [i, part] of parts.entries()) {
    if (patternOf(part, i)) continue;
    const item = part.split(',').find((one) => !patternOf(one, i)) ?? part;
    return `has ${FIELDS[i]?.name === 'hour' ? 'an' : 'a'} ${FIELDS[i]?.name} that can't be read: ${item.slice(0, 20)} (${FIELDS[i]?.range})`;
  }
  const { minute, hour, day, month } = new CronPattern(parts.join(' '), 'UTC', OPTIONS);
  const first = day.indexOf(1);
  if (parts[4] === '*' && !month.some((on, i) => on && first < (MONTH_DAYS[i] ?? 0))) return 'never comes: no such day exists';
  // With every hour, runs go on through a change of clocks. Any other hours are times of day, also those of a step, so they are written out.
  const hours = hour.includes(0) ? numbersOf(hour) : '*';
  return { pattern: [numbersOf(minute), hours, ...parts.slice(2)].join(' ') };
}

/** A step longer than its field names the first value of its range, as in crontab; croner refuses it. */
const withStepsInField = (part: string, i: number): string =>
  part
    .split(',')
    .map((item) => {
      const [range, step = '', ...more] = item.split('/');
      const size = FIELDS[i]?.size ?? 0;
      return more.length === 0 && /^\d{1,2}$/.test(step) && Number(step) > size ? `${range}/${size}` : item;
    })
    .join(',');

const numbersOf = (field: readonly number[]) => field.flatMap((on, i) => (on ? [i] : [])).join(',');

/** The expression with this field and no other, when both we and croner take it. */
function patternOf(part: string, i: number): CronPattern | undefined {
  const value = FIELDS[i]?.value;
  const known = part.split(',').every((item) => {
    const [range = '', step = '1', ...more] = item.split('/');
    const ends = range.split('-');
    return more.length === 0 && /^\d{1,2}$/.test(step) && (range === '*' || (ends.length <= 2 && ends.every((end) => value?.test(end))));
  });
  if (!known) return undefined;
  try {
    return new CronPattern(FIELDS.map((_, at) => (at === i ? part : '*')).join(' '), 'UTC', OPTIONS);
  } catch {
    return undefined;
  }
}

/** A zone of the IANA database, such as Europe/Berlin; not an offset. */
export const isZone = (zone: string): boolean => /^[A-Za-z]/.test(zone) && canonical(zone) !== undefined;

/** The one spelling of a zone, of which there are some hundreds: croner keeps a formatter of 50 KB for each that it meets. */
function canonical(zone: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/**
 * The first time after `after`. A local time that clocks skip is the first minute after the gap; one that comes twice counts once, the first time, unless
 * any hour will do. Null when there is none. @throws RangeError for an unknown zone
 */
export function nextFire({ pattern }: Cron, zone: string, after: Date): Date | null {
  const timezone = canonical(zone);
  if (timezone === undefined) throw new RangeError(`unknown time zone: ${zone.slice(0, 60)}`);
  return new Croner(pattern, { ...OPTIONS, timezone }).nextRun(after);
}

/** The least minutes between two of its next hundred runs, in UTC. */
export function leastGap({ pattern }: Cron, after: Date): number {
  const runs = new Croner(pattern, { ...OPTIONS, timezone: 'UTC' }).nextRuns(101, after);
  return Math.min(...runs.slice(1).map((run, i) => (run.getTime() - (runs[i]?.getTime() ?? 0)) / 60_000));
}
