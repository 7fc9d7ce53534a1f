import { PERIOD_NAMES, type Period } from './periods.shared.ts';

/** What an alert is about. Whoever writes a row names one of these, and answers have no other. */
export const ALERT_KINDS = ['budget', 'upstream', 'unpriced'] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

/** A row of ai_alerts, as JSON. */
export type Alert = {
  id: string;
  tenant_id: string;
  sandbox: boolean;
  kind: AlertKind;
  subject_type: string;
  subject_id: string;
  period: string;
  period_start: string | Date;
  /** Percent of the budget, or of calls that failed. */
  threshold: number;
  data: Record<string, unknown>;
  created_at: string | Date;
};

type AlertEvent = {
  tenant_id: string;
  sandbox: boolean;
  type: 'ai.budget.threshold' | 'ai.budget.exceeded' | 'ai.upstream.failing' | 'ai.model.unpriced';
  source_id: string;
  data: Record<string, unknown>;
  occurred_at: Date;
};

/** The events of an alert (interface rule 60 §3): a budget that is used up is both a threshold and exceeded. */
export function alertEvents(alert: Alert): AlertEvent[] {
  const { tenant_id, sandbox, subject_type, subject_id, threshold } = alert;
  const event = (type: AlertEvent['type'], data: Record<string, unknown>): AlertEvent => ({
    tenant_id,
    sandbox,
    type,
    source_id: subject_id.slice(0, 36),
    data,
    occurred_at: new Date(alert.created_at),
  });
  if (alert.kind === 'upstream') return [event('ai.upstream.failing', { agent_id: subject_id, ...alert.data })];
  if (alert.kind === 'unpriced') return [event('ai.model.unpriced', { agent_id: subject_id.slice(0, 36), ...alert.data })];
  const data = {
    scope: subject_type,
    [`${subject_type}_id`]: subject_id.slice(0, 36),
    period: PERIOD_NAMES[alert.period as Period] ?? alert.period,
    period_start: new Date(alert.period_start).toISOString(),
    threshold_pct: threshold,
    spent_usd: Number(alert.data.spent_nano) / 1e9,
    limit_usd: Number(alert.data.cap_nano) / 1e9,
  };
  return threshold === 100 ? [event('ai.budget.threshold', data), event('ai.budget.exceeded', data)] : [event('ai.budget.threshold', data)];
}
