import { z } from 'zod';
import { ALERT_TYPES, type AlertType, type Condition, DEFAULTS, membersOf, SEVERITIES } from '#server/domain/alerts/conditions.shared.ts';
import type { AlertRow } from './labels.ts';

const text = z.string().trim().max(200);

/** What the form of an alert holds: members of the condition as texts, of which only those of the type are sent. */
export const AlertValues = z
  .object({
    name: z.string().trim().min(1, 'is required').max(100),
    type: z.enum(ALERT_TYPES),
    severity: z.enum(SEVERITIES),
    cooldown_minutes: text,
    route_ids: z.array(z.string()),
    environments: text,
    channel_ids: z.array(z.string()),
    enabled: z.boolean(),
    ...{ threshold: text, window_minutes: text, include_status_codes: text, threshold_ms: text, percentile: text, min_requests: text },
    ...{ percent: text, days: text, minutes: text, action_prefix: text, resource_type: text },
  })
  .superRefine((values, ctx) => {
    const whole = [...membersOf(values.type).filter((member) => NUMBERS.has(member)), 'cooldown_minutes' as const];
    for (const member of whole)
      if (!/^[1-9]\d{0,6}$/.test(values[member as 'threshold']))
        ctx.addIssue({ code: 'custom', path: [member], message: 'must be a whole number of at least 1' });
    if (values.type === 'request_failures' && !/^\s*\d{3}(?:\s*,\s*\d{3})*\s*$/.test(values.include_status_codes))
      ctx.addIssue({ code: 'custom', path: ['include_status_codes'], message: 'must be status codes such as 500, 503' });
  });
export type AlertValues = z.output<typeof AlertValues>;

const NUMBERS = new Set<string>(['threshold', 'window_minutes', 'threshold_ms', 'min_requests', 'percent', 'days', 'minutes']);
const EMPTY = {
  ...{ threshold: '', window_minutes: '', include_status_codes: '', threshold_ms: '', percentile: '95', min_requests: '', percent: '' },
  ...{ days: '', minutes: '', action_prefix: '', resource_type: '' },
};

/** The members of a condition as the form shows them. */
export const conditionTexts = (condition: Condition) => ({
  ...EMPTY,
  ...Object.fromEntries(
    Object.entries(condition).map(([member, value]) => [member, Array.isArray(value) ? value.join(', ') : String(value)]),
  ),
});

export const NEW: AlertValues = {
  ...{
    name: '',
    type: 'request_failures',
    severity: 'high',
    cooldown_minutes: '15',
    route_ids: [],
    environments: '',
    channel_ids: [],
    enabled: true,
  },
  ...conditionTexts(DEFAULTS.request_failures),
};

export const valuesOf = (row: AlertRow): AlertValues => ({
  ...{ name: row.name, type: row.type, severity: row.severity, cooldown_minutes: String(row.cooldown_minutes), route_ids: row.route_ids },
  ...{ environments: row.environments.join(', '), channel_ids: row.channel_ids, enabled: row.enabled },
  ...conditionTexts({ ...DEFAULTS[row.type], ...(row.condition as Condition) }),
});

/** The condition of a call: the members of the type only. */
export function conditionOf(values: AlertValues): Condition {
  const of = (member: string): unknown => {
    const value = values[member as 'threshold'];
    if (member === 'include_status_codes') return value.split(',').map((code) => Number(code.trim()));
    return NUMBERS.has(member) || member === 'percentile' ? Number(value) : value;
  };
  return Object.fromEntries(membersOf(values.type).map((member) => [member, of(member)])) as Condition;
}

export const listOf = (text: string): string[] =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');

/** What a link from a chart may fill in: `?type=error_rate&route_id=…`. */
export function valuesFrom(search: URLSearchParams): Partial<AlertValues> {
  const type = ALERT_TYPES.find((one) => one === search.get('type'));
  const route = search.get('route_id');
  return {
    ...(type ? { type: type as AlertType, ...conditionTexts(DEFAULTS[type]) } : {}),
    ...(route && /^[0-9a-f-]{36}$/i.test(route) ? { route_ids: [route] } : {}),
  };
}
