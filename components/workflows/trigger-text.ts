import { counted } from '#components/ui/numbers.ts';

/** What starts a workflow, in words: "Every day at 09:00, Europe/Berlin". */
export function triggerText(config: Record<string, unknown> | undefined): string {
  switch (config?.triggerType) {
    case 'manual':
      return 'By hand or by the API';
    case 'webhook':
      return `A request to its URL${config.mode === 'sync' ? ', answered' : ''}`;
    case 'schedule':
      return scheduleText(config);
    case 'proxy_event': {
      const { eventTypes = [] } = (config.proxyEventConfig ?? {}) as { eventTypes?: string[] };
      return eventTypes.length === 0
        ? 'No event yet'
        : `Calls: ${eventTypes.map((type) => type.replace('request.', '').replaceAll('_', ' ')).join(', ')}`;
    }
    default:
      return 'No trigger yet';
  }
}

function scheduleText({ cron, every, timezone }: Record<string, unknown>): string {
  const minutes = (every as { minutes?: unknown } | undefined)?.minutes;
  if (typeof minutes === 'number')
    return minutes % 60 === 0 && minutes > 0 ? `Every ${plural(minutes / 60, 'hour')}` : `Every ${plural(minutes, 'minute')}`;
  if (typeof cron !== 'string' || cron.trim() === '') return 'No time yet';
  const zone = typeof timezone === 'string' && timezone !== '' && timezone !== 'UTC' ? timezone : 'UTC';
  return `${cronText(cron)}, ${zone}`;
}

const plural = (count: number, noun: string) => (count === 1 ? noun : counted(count, noun));

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const NAMES: Record<string, number> = { sun: 0, mon: 1, tue: 2, wed: 3, thu: 4, fri: 5, sat: 6 };

const [MINUTE, HOUR, DAY] = [/^[0-5]?\d$/, /^(?:[01]?\d|2[0-3])$/, /^(?:0?[1-9]|[12]\d|3[01])$/];

/** The n of a step that comes at even intervals, as the ones of 60 minutes are 15 and not 45; 0 for any other field. */
function stepOf(field: string, whole: number): number {
  const step = Number(/^\*\/(\d{1,2})$/.exec(field)?.[1] ?? 0);
  return step > 0 && whole % step === 0 ? step : 0;
}

/** The usual schedules in words; any other as it is written. */
export function cronText(cron: string): string {
  const fields = cron.trim().split(/\s+/);
  const [minute = '', hour = '', day, month, weekday = ''] = fields;
  const written = `Cron ${cron.trim()}`;
  if (fields.length !== 5 || month !== '*') return written;
  const daily = day === '*' && weekday === '*';
  if (daily && minute === '0' && stepOf(hour, 24)) return `Every ${plural(stepOf(hour, 24), 'hour')}`;
  if (hour === '*' && daily) {
    if (minute === '*') return 'Every minute';
    if (stepOf(minute, 60)) return `Every ${plural(stepOf(minute, 60), 'minute')}`;
    return MINUTE.test(minute) ? `Every hour at :${minute.padStart(2, '0')}` : written;
  }
  if (!MINUTE.test(minute) || !HOUR.test(hour)) return written;
  const at = `at ${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`;
  if (daily) return `Every day ${at}`;
  if (day === '*' && /^(1-5|mon-fri)$/i.test(weekday)) return `Weekdays ${at}`;
  const index = NAMES[weekday.toLowerCase()] ?? (/^[0-7]$/.test(weekday) ? Number(weekday) % 7 : undefined);
  if (day === '*' && index !== undefined) return `Every ${DAYS[index]} ${at}`;
  if (weekday === '*' && day !== undefined && DAY.test(day)) return `On day ${day} of the month ${at}`;
  return written;
}
