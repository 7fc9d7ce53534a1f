import { type AlertType, UNITS } from '#server/domain/alerts/conditions.shared.ts';
import { grouped } from '#server/kernel/numbers.ts';
import type { Notice } from './writing.ts';

/** An event as the delivery engine hands it over. */
export type InboxEvent = {
  id: string;
  type: string;
  tenant_id: string;
  sandbox: boolean;
  occurred_at: Date;
  data: Readonly<Record<string, unknown>>;
};

type Told = Pick<Notice, 'kind' | 'severity' | 'title' | 'body' | 'to'> &
  Partial<Pick<Notice, 'resource' | 'mailed'>> & { page: string | null };
type Maker = (data: Data, event: InboxEvent) => Told;

const TEAM = { roles: ['owner', 'admin', 'editor'] };
const ADMINS = { roles: ['owner', 'admin'] };
const OWNERS = { roles: ['owner'] };

/**
 * What people are told of an event; undefined for one that concerns nobody. `mailed`: the family that raised it has sent a mail of its own to the same
 * people.
 */
export function noticeOfEvent(event: InboxEvent): Notice | undefined {
  const make = MAKERS[event.type];
  if (!make) return undefined;
  const { page, ...told } = make(reader(event.data), event);
  const space = event.sandbox ? 'test' : 'live';
  return {
    ...{ tenant_id: event.tenant_id, source: event.id, at: event.occurred_at, space, ...told },
    link: page === null ? null : page.startsWith('/settings') ? page : `/${space}${page}`,
  };
}

const MAKERS: Readonly<Record<string, Maker>> = {
  'alert.triggered': (data) => ({
    ...{ kind: 'operations', to: TEAM, ...aboutAlert(data) },
    severity: data.flag('muted') ? 'info' : ['high', 'critical'].includes(data.text('severity')) ? 'critical' : 'warning',
    title: `Alert: ${data.text('alert_name', 'an alert fired')}`,
    body: `${data.text('subject', 'The condition holds')}: ${measured(data, 'value')}, threshold ${measured(data, 'threshold')}.`,
  }),
  'alert.resolved': (data) => ({
    ...{ kind: 'operations', to: TEAM, severity: 'info', ...aboutAlert(data) },
    title: `Resolved: ${data.text('alert_name', 'an alert')}`,
    body: `${data.text('subject', 'The condition no longer holds')}: at most ${measured(data, 'peak')}, threshold ${measured(data, 'threshold')}.`,
  }),
  'webhook.disabled': (data) => ({
    ...{ kind: 'operations', to: TEAM, severity: 'critical', mailed: true },
    title: `The webhook ${data.text('webhook_name')} was disabled`,
    body:
      data.text('reason') === 'gone'
        ? `The receiver ${data.text('host')} answered 410 Gone.`
        : `Every delivery to ${data.text('host')} has failed for five days.`,
    ...resource('webhook', data.text('webhook_id')),
    page: `/webhooks/${data.text('webhook_id')}`,
  }),
  'workflow.execution.failed': (data) => ({
    ...{ kind: 'operations', to: TEAM, severity: 'warning' },
    title: `A run of ${data.text('workflow_name', 'a workflow')} failed`,
    body: data.text('error', data.text('error_message', 'Open the run to see which step failed.')),
    ...resource('workflow', data.text('workflow_id')),
    page: data.text('execution_id') ? `/runs/${data.text('execution_id')}` : '/workflows',
  }),
  'agent.offline': (data) => ({
    ...{ kind: 'operations', to: TEAM, severity: 'warning' },
    title: `The agent ${data.text('name', 'on a host')} is offline`,
    body: 'It has stopped reporting. Check its host and its connection.',
    ...aboutAgent(data),
  }),
  'agent.tamper_detected': (data) => ({
    ...{ kind: 'security', to: ADMINS, severity: 'critical' },
    title: TAMPERED[data.text('kind')]?.(data.text('name', 'on a host')) ?? `The agent ${data.text('name', 'on a host')} reports tampering`,
    body: `${data.text('action_taken') === 'refused' ? 'It was refused. ' : ''}If you don't know why, revoke the agent and look at its host.`,
    ...aboutAgent(data),
  }),
  'secret.expiring': (data) => ({
    ...{ kind: 'expiry', to: ADMINS, severity: 'warning', mailed: true, ...aboutSecret(data) },
    title: `${data.text('name')} expires in ${days(data.number('days_left'))}`,
    body: `Its value in ${data.text('environment')} expires on ${data.day('expires_at')}. Set a new value or change the expiry.`,
  }),
  'secret.expired': (data) => ({
    ...{ kind: 'expiry', to: ADMINS, severity: 'critical', mailed: true, ...aboutSecret(data) },
    title: `${data.text('name')} has expired`,
    body: `Its value in ${data.text('environment')} expired on ${data.day('expires_at')}. Set a new value or change the expiry.`,
  }),
  'secret.oauth2.disconnected': (data) => ({
    ...{ kind: 'expiry', to: ADMINS, severity: 'critical', mailed: true, ...aboutSecret(data) },
    title: `The connection of ${data.text('name')} was lost`,
    body: `Connect ${data.text('provider', 'the provider')} again in ${data.text('environment')}. Calls that need it are refused.`,
  }),
  'pki.certificate.expiring': (data) => ({
    ...{ kind: 'expiry', to: ADMINS, severity: 'warning', page: '/pki' },
    title: `A certificate of ${data.text('root', 'a root')} expires in ${days(data.number('days_left'))}`,
    body: `${data.text('subject', data.text('serial_hex'))} ends on ${data.day('not_after')} and has no successor.`,
  }),
  'usage.threshold_reached': (data) => ({
    ...{ kind: 'billing', to: OWNERS, mailed: true, page: '/settings/usage' },
    severity: data.number('percent') >= 100 ? 'critical' : 'warning',
    title: `${data.number('percent')}% of this month's calls are used`,
    body: `${grouped(data.number('used'))} of ${grouped(data.number('limit'))} calls. At 100%, Live calls are refused.`,
  }),
  'ai.budget.exceeded': (data) => ({
    ...{ kind: 'operations', to: ADMINS, severity: 'critical', page: '/ai/spend' },
    title: `A budget of the AI gateway is used up`,
    body: `${data.text('scope', 'A budget')}: $${data.number('spent_usd').toFixed(2)} of $${data.number('limit_usd').toFixed(2)}. Calls are refused until its next period.`,
  }),
  'dyn_db.lease.errored': (data) => ({
    ...{ kind: 'operations', to: ADMINS, severity: 'critical', mailed: true, page: '/database-credentials' },
    title: `A database user could not be removed`,
    body: `${data.text('username')} of ${data.text('connection')}: ${data.text('error', 'the database refused')}`,
  }),
  'migration.awaiting_review': (data) => ({
    ...{ kind: 'operations', to: ADMINS, severity: 'info', mailed: true },
    title: `A migration waits for review`,
    body: `${data.number('items')} items. Undecided values are erased at the deadline.`,
    ...resource('migration', data.text('migration_id')),
    page: `/migrations/${data.text('migration_id')}`,
  }),
  'wrap.token.exposed': (data) => ({
    ...{ kind: 'security', to: OWNERS, severity: 'critical', mailed: true, page: '/wrap' },
    title: 'A gateway token was sent in the clear and revoked',
    body: `It arrived over plain HTTP for ${data.text('host', 'a host')}. Create a new one and correct the address of its caller.`,
  }),
};

/** Event types with a notification; `inbox_event_types` in the migrations names the same. */
export const INBOX_EVENTS = Object.keys(MAKERS);

/** A figure of an alert in the unit of its type. */
const measured = (data: Data, member: 'value' | 'peak' | 'threshold'): string => {
  const unit: string = UNITS[data.text('alert_type') as AlertType] ?? '';
  return `${Math.round(data.number(member) * 10) / 10} ${unit}`.trim();
};

const aboutAlert = (data: Data) => ({
  // A muted alert is listed, and nobody is mailed about it.
  ...(data.flag('muted') ? { mailed: true as const } : {}),
  ...resource('alert', data.text('alert_id')),
  page: data.text('incident_id') ? `/alerts/incidents/${data.text('incident_id')}` : '/alerts',
});

/** By its ID: `agent_id` is the name it signs with. */
const aboutAgent = (data: Data) => ({
  ...resource('agent', data.text('id')),
  page: data.text('id') ? `/agents/${data.text('id')}` : '/agents',
});

const TAMPERED: Readonly<Record<string, (name: string) => string>> = {
  fingerprint_mismatch: (name) => `Another machine signs as the agent ${name}`,
  unknown_build: (name) => `The agent ${name} runs an unknown build`,
  bad_bundle: (name) => `The agent ${name} got a bundle with a wrong signature`,
};

const aboutSecret = (data: Data) => ({ ...resource('secret', data.text('id')), page: `/secrets/${data.text('id')}` });

const resource = (type: string, id: string): { resource?: { type: string; id: string } } => (id === '' ? {} : { resource: { type, id } });

const days = (n: number) => (n === 1 ? '1 day' : `${n} days`);

type Data = ReturnType<typeof reader>;

/** Reads the members of an event leniently: older events may lack some. */
const reader = (data: Readonly<Record<string, unknown>>) => ({
  text: (name: string, otherwise = ''): string =>
    typeof data[name] === 'string' && data[name] !== '' ? (data[name] as string) : otherwise,
  number: (name: string): number => (typeof data[name] === 'number' ? (data[name] as number) : 0),
  flag: (name: string): boolean => data[name] === true,
  day: (name: string): string => {
    const at = new Date(String(data[name] ?? ''));
    return Number.isNaN(at.getTime()) ? 'an unknown day' : at.toISOString().slice(0, 10);
  },
});
