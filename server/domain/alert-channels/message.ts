import type { Space } from '#server/kernel/context.ts';

/** What is told of an incident, whatever the channel. It travels sealed as the data of an event. */
export type AlertMessage = {
  kind: 'opened' | 'reminder' | 'resolved' | 'test';
  /** Null for a test of a channel. */
  incident_id: string | null;
  alert_id: string | null;
  alert: string;
  type: string;
  severity: 'low' | 'medium' | 'high' | 'critical';
  /** A route, a secret, a webhook; null for the whole space. */
  subject: string | null;
  /** The condition in words. */
  condition: string;
  value: number;
  peak: number;
  threshold: number;
  unit: string;
  /** ISO 8601. */
  started_at: string;
  resolved_at: string | null;
  sample_request_ids: string[];
  workspace: string;
  space: Space;
  /** The page of the incident. */
  link: string;
};

/** The type of the events that carry messages; nobody subscribes to it. */
export const MESSAGE_EVENT = 'alert.message';

const HEADS = { opened: 'Firing', reminder: 'Still firing', resolved: 'Resolved', test: 'Test' } as const;

/** One line: what happened, and to what. */
export function titleOf({ kind, alert, subject, space }: AlertMessage): string {
  const about = subject === null ? '' : ` (${subject})`;
  return `${space === 'test' ? '[Test] ' : ''}${HEADS[kind]}: ${alert}${about}`;
}

const number = (value: number): string => String(Math.round(value * 100) / 100);

/** Label and value of each fact, in the order of importance. */
export function factsOf(message: AlertMessage): [label: string, value: string][] {
  const { kind, severity, condition, value, peak, unit, started_at, resolved_at, workspace, space, sample_request_ids } = message;
  return [
    ['Workspace', `${workspace} (${space})`],
    ['Severity', severity],
    ['Condition', condition],
    ...(kind === 'test' ? [] : [['Value', `${number(value)} ${unit}, at most ${number(peak)}`] as [string, string]]),
    ['Since', minuteOf(started_at)],
    ...(resolved_at === null ? [] : [['Resolved', minuteOf(resolved_at)] as [string, string]]),
    ...(sample_request_ids.length === 0 ? [] : [['Sample calls', sample_request_ids.join(', ')] as [string, string]]),
  ];
}

const minuteOf = (iso: string): string => `${iso.slice(0, 16).replace('T', ' ')} UTC`;
