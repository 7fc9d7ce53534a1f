/** The fifteen things an alert may watch (interface rule 70 §7). */
export const ALERT_TYPES = [
  'request_failures',
  'error_rate',
  'high_latency',
  'rate_limit_exceeded',
  'unauthorized_client',
  'no_traffic',
  'secret_expiring',
  'certificate_expiring',
  'webhook_failing',
  'workflow_failed',
  'agent_offline',
  'ai_budget',
  'usage_threshold',
  'reveal_spike',
  'audit_match',
] as const;
export type AlertType = (typeof ALERT_TYPES)[number];

export const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

export const ALERT_STATES = ['ok', 'firing', 'no_data'] as const;
export type AlertState = (typeof ALERT_STATES)[number];

/** Every member that a condition may have; which ones depends on the type. */
export type Condition = {
  threshold?: number;
  window_minutes?: number;
  include_status_codes?: number[];
  threshold_ms?: number;
  percentile?: number;
  min_requests?: number;
  percent?: number;
  days?: number;
  minutes?: number;
  action_prefix?: string;
  resource_type?: string;
};
type Member = keyof Condition;

const window = { window_minutes: 5 };
const counted = (threshold: number) => ({ threshold, ...window });

/** The members of each type with their defaults: what a condition leaves out is that. */
export const DEFAULTS: Readonly<Record<AlertType, Condition>> = {
  request_failures: { ...counted(5), include_status_codes: [500, 502, 503, 504] },
  error_rate: { percent: 5, ...window, min_requests: 20 },
  high_latency: { threshold_ms: 1_000, percentile: 95, ...window, min_requests: 20 },
  rate_limit_exceeded: counted(20),
  unauthorized_client: counted(10),
  no_traffic: { window_minutes: 15 },
  secret_expiring: { days: 7 },
  certificate_expiring: { days: 7 },
  webhook_failing: {},
  workflow_failed: counted(1),
  agent_offline: { minutes: 15 },
  ai_budget: { percent: 80 },
  usage_threshold: { percent: 80 },
  reveal_spike: { threshold: 20, window_minutes: 60 },
  audit_match: { action_prefix: '', resource_type: '' },
};
export const membersOf = (type: AlertType): Member[] => Object.keys(DEFAULTS[type]) as Member[];

/** Types whose alerts can be narrowed to routes and environments. They are grouped by route. */
export const OF_REQUESTS: readonly AlertType[] = [
  'request_failures',
  'error_rate',
  'high_latency',
  'rate_limit_exceeded',
  'unauthorized_client',
  'no_traffic',
];
export const isOfRequests = (type: AlertType): boolean => OF_REQUESTS.includes(type);

/** Types whose last seven days can be worked out again: those that count what is kept. */
export const canPreview = (type: AlertType): boolean => isOfRequests(type) || type === 'reveal_spike' || type === 'audit_match';

/** How long a matching audit entry keeps its alert firing. */
const AUDIT_WINDOW = 5;

/** Minutes that one look covers. Conditions without a window are states: they are looked at every minute. */
export const windowOf = (type: AlertType, { window_minutes }: Condition): number =>
  type === 'audit_match' ? AUDIT_WINDOW : (window_minutes ?? 1);

/** The number that a value is held against, in the unit of the type. */
export function thresholdOf(type: AlertType, c: Condition): number {
  switch (type) {
    case 'high_latency':
      return c.threshold_ms ?? 0;
    case 'secret_expiring':
    case 'certificate_expiring':
      return c.days ?? 0;
    case 'agent_offline':
      return c.minutes ?? 0;
    case 'no_traffic':
      return 0;
    default:
      return c.threshold ?? c.percent ?? 1;
  }
}

export const UNITS: Readonly<Record<AlertType, 'calls' | '%' | 'ms' | 'days' | 'minutes' | 'runs' | 'reveals' | 'entries' | 'failures'>> = {
  request_failures: 'calls',
  error_rate: '%',
  high_latency: 'ms',
  rate_limit_exceeded: 'calls',
  unauthorized_client: 'calls',
  no_traffic: 'calls',
  secret_expiring: 'days',
  certificate_expiring: 'days',
  webhook_failing: 'failures',
  workflow_failed: 'runs',
  agent_offline: 'minutes',
  ai_budget: '%',
  usage_threshold: '%',
  reveal_spike: 'reveals',
  audit_match: 'entries',
};

const over = (c: Condition) => `in ${c.window_minutes} ${c.window_minutes === 1 ? 'minute' : 'minutes'}`;

/** A condition in words, as pages and messages say it. */
export function describeCondition(type: AlertType, c: Condition): string {
  switch (type) {
    case 'request_failures':
      return `${c.threshold} or more calls with status ${c.include_status_codes?.join(', ')} ${over(c)}`;
    case 'error_rate':
      return `${c.percent} % or more of at least ${c.min_requests} calls fail ${over(c)}`;
    case 'high_latency':
      return `p${c.percentile} of at least ${c.min_requests} calls is ${c.threshold_ms} ms or more ${over(c)}`;
    case 'rate_limit_exceeded':
      return `${c.threshold} or more calls are refused by a rate limit ${over(c)}`;
    case 'unauthorized_client':
      return `${c.threshold} or more calls of clients that may not call ${over(c)}`;
    case 'no_traffic':
      return `no call ${over(c)}`;
    case 'secret_expiring':
      return `a value of a secret expires within ${c.days} days`;
    case 'certificate_expiring':
      return `a certificate without a successor ends within ${c.days} days`;
    case 'webhook_failing':
      return 'deliveries of a webhook fail, or it was disabled because of that';
    case 'workflow_failed':
      return `${c.threshold} or more runs of a workflow fail ${over(c)}`;
    case 'agent_offline':
      return `an agent is offline for ${c.minutes} minutes`;
    case 'ai_budget':
      return `${c.percent} % of a budget of the AI gateway is spent`;
    case 'usage_threshold':
      return `${c.percent} % of the month's calls are used`;
    case 'reveal_spike':
      return `${c.threshold} or more reveals of secrets ${over(c)}`;
    case 'audit_match':
      return `an audit entry of ${c.resource_type || 'any resource'} whose action ${c.action_prefix ? `begins with ${c.action_prefix}` : 'is any'}`;
  }
}

export type Template = { id: string; name: string; type: AlertType; condition: Condition; severity: Severity; cooldown_minutes: number };

/** What a new alert may start from. */
export const TEMPLATES: readonly Template[] = [
  {
    ...{ id: 'any-5xx', name: 'Any server error', type: 'request_failures', severity: 'high', cooldown_minutes: 15 },
    condition: { threshold: 1, window_minutes: 5, include_status_codes: [500, 502, 503, 504] },
  },
  {
    ...{ id: 'five-failures', name: 'Five failures in five minutes', type: 'request_failures', severity: 'high', cooldown_minutes: 15 },
    condition: { threshold: 5, window_minutes: 5, include_status_codes: [500, 502, 503, 504] },
  },
  {
    ...{ id: 'error-rate', name: 'Error rate above 5 %', type: 'error_rate', severity: 'high', cooldown_minutes: 15 },
    condition: DEFAULTS.error_rate,
  },
  {
    ...{ id: 'slow', name: 'Slow answers', type: 'high_latency', severity: 'medium', cooldown_minutes: 30 },
    condition: DEFAULTS.high_latency,
  },
  {
    ...{ id: 'secrets', name: 'Secrets about to expire', type: 'secret_expiring', severity: 'medium', cooldown_minutes: 1_440 },
    condition: DEFAULTS.secret_expiring,
  },
  {
    ...{ id: 'reveals', name: 'Unusually many reveals', type: 'reveal_spike', severity: 'critical', cooldown_minutes: 60 },
    condition: DEFAULTS.reveal_spike,
  },
];

/** What an incident is in. */
export const INCIDENT_STATES = ['open', 'resolved'] as const;
