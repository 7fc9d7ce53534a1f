import type { inferRouterOutputs } from '@trpc/server';
import type { State, Tone } from '#components/ui/badge.tsx';
import { grouped } from '#components/ui/numbers.ts';
import type { ChannelKind } from '#server/domain/alert-channels/kinds.shared.ts';
import type { AlertType, Severity } from '#server/domain/alerts/conditions.shared.ts';
import type { AppRouter } from '#server/trpc/root.ts';

type Outputs = inferRouterOutputs<AppRouter>;
export type AlertRow = Outputs['alerts']['list']['data'][number];
export type SparklineRow = Outputs['alerts']['sparklines']['data'][number];
export type PreviewAnswer = Outputs['alerts']['preview'];
export type IncidentRow = Outputs['alerts']['incidents']['data'][number];
export type IncidentDetail = Outputs['alerts']['incident'];
export type ChannelRow = Outputs['alertChannels']['list']['data'][number];

export const TYPE_LABELS: Record<AlertType, string> = {
  request_failures: 'Failed calls',
  error_rate: 'Error rate',
  high_latency: 'High latency',
  rate_limit_exceeded: 'Rate limit exceeded',
  unauthorized_client: 'Unauthorized client',
  no_traffic: 'No traffic',
  secret_expiring: 'Secret expiring',
  certificate_expiring: 'Certificate expiring',
  webhook_failing: 'Webhook failing',
  workflow_failed: 'Workflow failed',
  agent_offline: 'Agent offline',
  ai_budget: 'AI budget',
  usage_threshold: 'Usage of the plan',
  reveal_spike: 'Many reveals',
  audit_match: 'Audit entry',
};

export const SEVERITY_TONES: Record<Severity, Tone> = { low: 'neutral', medium: 'accent', high: 'warn', critical: 'bad' };
export const SEVERITY_LABELS: Record<Severity, string> = { low: 'Low', medium: 'Medium', high: 'High', critical: 'Critical' };

/** How an alert stands, in a word. */
export function stateOf(
  alert: Pick<AlertRow, 'enabled' | 'muted_until' | 'state' | 'open_incidents'>,
  now: number,
): { state: State; label: string } {
  if (!alert.enabled) return { state: 'off', label: 'Off' };
  const muted = alert.muted_until !== null && new Date(alert.muted_until).getTime() > now;
  if (alert.state === 'firing')
    return {
      state: 'failing',
      label: `${alert.open_incidents > 1 ? `Firing (${alert.open_incidents})` : 'Firing'}${muted ? ', muted' : ''}`,
    };
  if (muted) return { state: 'blocked', label: 'Muted' };
  return alert.state === 'no_data' ? { state: 'pending', label: 'No data' } : { state: 'ok', label: 'OK' };
}

export const CHANNEL_HINTS: Record<ChannelKind, string> = {
  email: 'One message to each address.',
  sms: 'Numbers with a country code, such as +14155550100.',
  slack: 'The URL of an incoming webhook of your Slack app.',
  teams: 'The URL of a workflow that posts to a channel.',
  discord: 'The URL of a webhook of a channel.',
  webhook: 'Any https endpoint. Requests are signed as webhooks are.',
  pagerduty: 'The integration key of a service (Events API v2). Incidents resolve by themselves.',
  opsgenie: 'The key of an API integration. Alerts close by themselves.',
};

/** A value in the unit of its type: "12 calls", "4.2 %". */
export const valueText = (value: number, unit: string): string =>
  `${Number.isInteger(value) ? grouped(value) : value.toFixed(1)} ${value === 1 && unit !== 'ms' ? unit.replace(/s$/, '') : unit}`;

/** How long something lasted, in words. */
export function lasted(from: string, to: string | null, now: number): string {
  const minutes = Math.max(0, Math.round(((to === null ? now : new Date(to).getTime()) - new Date(from).getTime()) / 60_000));
  if (minutes < 1) return 'less than a minute';
  if (minutes < 60) return minutes === 1 ? '1 minute' : `${minutes} minutes`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}
