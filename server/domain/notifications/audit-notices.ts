import type { Notice } from './writing.ts';

/** An audit entry, as far as notifications are made of it. */
export type AuditRow = {
  id: string;
  seq: bigint;
  tenant_id: string;
  sandbox: boolean;
  action: string;
  resource_type: string;
  resource_id: string | null;
  details: unknown;
  ip_address: string | null;
  actor_type: string;
  actor_id: string | null;
  actor_label: string | null;
  created_at: Date;
  /** Of a member's entry: the person. */
  member_id: string | null;
  /** Of a secret's entry: who created it. */
  creator_id: string | null;
};

type Told = Pick<Notice, 'kind' | 'severity' | 'title' | 'body' | 'to'> &
  Partial<Pick<Notice, 'resource' | 'mailed' | 'except'>> & { page: string | null };
type Maker = (row: AuditRow, details: Record<string, unknown>) => Told | undefined;

const OWNERS = { roles: ['owner'] };
const ADMINS = { roles: ['owner', 'admin'] };

/** What people are told of an audit entry; undefined for one that concerns nobody. */
export function noticeOfEntry(row: AuditRow): Notice | undefined {
  const details = (row.details ?? {}) as Record<string, unknown>;
  const told = MAKERS[`${row.resource_type}.${row.action}`]?.(row, details);
  if (!told) return undefined;
  const { page, ...rest } = told;
  const space = WORKSPACE_LEVEL.has(row.resource_type) ? 'workspace' : row.sandbox ? 'test' : 'live';
  return {
    ...{ tenant_id: row.tenant_id, source: row.id, at: row.created_at, space, ...rest },
    link: page === null ? null : space === 'workspace' || page.startsWith('/settings') ? page : `/${space}${page}`,
  };
}

const WORKSPACE_LEVEL = new Set(['session', 'mfa_credential', 'member', 'invitation', 'access_request', 'billing']);

/** By resource type and action. The feed reads no other entries. */
const MAKERS: Readonly<Record<string, Maker>> = {
  'session.login': (row, details) =>
    details.new_device === true && row.actor_id
      ? {
          ...{ kind: 'security', severity: 'warning', to: { users: [row.actor_id] }, mailed: true, page: null },
          title: 'New sign-in to your account',
          body: `From ${row.ip_address ?? 'an unknown address'}. If this wasn't you, end that session under Sessions and change your password.`,
        }
      : undefined,
  'mfa_credential.create': (row, details) => factorNotice(row, `${factor(details)} was added to your account`),
  'mfa_credential.delete': (row, details) => factorNotice(row, `${factor(details)} was removed from your account`),
  'mfa_credential.rotate': (row) => factorNotice(row, 'Your recovery codes were replaced'),
  'secret.plaintext.reveal': (row, details) =>
    row.creator_id && row.creator_id !== row.actor_id
      ? {
          ...{ kind: 'security', severity: 'warning', to: { users: [row.creator_id] } },
          title: `${row.actor_label ?? 'Someone'} revealed your secret ${name(details)}`,
          body: `${typeof details.reason === 'string' && details.reason !== '' ? `Reason: ${details.reason}. ` : ''}Every reveal is in the reveal log.`,
          resource: { type: 'secret', id: row.resource_id ?? '' },
          page: `/secrets/${row.resource_id}`,
        }
      : undefined,
  'agent.create': (row, details) => ({
    ...agentNotice(row, `A new agent, ${name(details)}, was created`, 'agent', `/agents/${row.resource_id}`),
    mailed: true,
  }),
  'ai_agent.create': (row, details) =>
    agentNotice(row, `A new AI agent, ${name(details)}, was created`, 'ai_agent', `/ai/agents/${row.resource_id}`),
  'agent.reset': (row, details) =>
    agentNotice(row, `The fingerprint of the agent ${name(details)} was reset`, 'agent', `/agents/${row.resource_id}`),
  // The Owners were mailed in both cases.
  'ai_token.update': (row, details) =>
    changed(details, 'step_up_required')?.to === true
      ? {
          ...{ kind: 'security', severity: 'critical', to: OWNERS, mailed: true },
          title: `The AI token ${name(details)} was used from two places too far apart`,
          body: 'Its calls are refused until an Owner or Admin clears it. If the journey was nobody’s, revoke the token.',
          page: typeof details.agent_id === 'string' ? `/ai/agents/${details.agent_id}` : '/ai/agents',
        }
      : undefined,
  'billing.update': (_, { from, to }) => {
    const [before, after] = [standing(from), standing(to)];
    const told = before === after ? undefined : PAYMENTS[after];
    return told && { kind: 'billing', severity: 'critical', to: OWNERS, mailed: true, page: '/settings/billing', ...told };
  },
  'api_key.disable': (row, details) => ({
    ...{ kind: 'expiry', severity: 'critical', to: ADMINS, mailed: true, page: '/api-keys' },
    title: `The API key ${name(details)} has expired`,
    body: 'Calls with it are refused. If something still uses it, create a new key and replace it there.',
  }),
  'member.create': (row, details) => ({
    ...{ kind: 'team', severity: 'info', to: ADMINS, except: [row.actor_id, row.member_id], page: '/settings/team' },
    title: `${name(details)} joined the workspace`,
    body: 'They can use it from now on. Roles are changed under Team.',
  }),
  'member.update': (row, details) => {
    const change = changed(details, 'role');
    if (!change || !row.member_id) return undefined;
    return {
      ...{ kind: 'team', severity: 'info', to: { users: [row.member_id] }, except: row.actor_id, mailed: true, page: '/settings/team' },
      title: `Your role is now ${String(change.to)}`,
      body: `${row.actor_label ?? 'Someone'} changed it. It applies from your next request.`,
    };
  },
  'invitation.invite': (row, details) => ({
    ...{ kind: 'team', severity: 'info', to: ADMINS, except: row.actor_id, page: '/settings/team' },
    title: `${row.actor_label ?? 'Someone'} invited ${name(details)}`,
    body: `As ${typeof details.role === 'string' ? details.role : 'a member'}. The invitation expires in seven days.`,
  }),
  'access_request.create': (row, details) => ({
    ...{ kind: 'team', severity: 'warning', to: ADMINS, except: row.actor_id, page: '/settings/notifications?tab=requests' },
    title: `${row.actor_label ?? 'Someone'} asks for ${typeof details.wants === 'string' ? details.wants : 'access'}`,
    body: typeof details.reason === 'string' && details.reason !== '' ? details.reason : 'No reason was given.',
  }),
  'access_request.update': (_, details) =>
    typeof details.person_id === 'string'
      ? {
          ...{ kind: 'team', severity: 'info', to: { users: [details.person_id] }, page: '/settings/team' },
          title: details.decision === 'approved' ? 'Your request was approved' : 'Your request was denied',
          body: typeof details.wants === 'string' ? `You asked for ${details.wants}.` : 'See Team for your role.',
        }
      : undefined,
};

/** `resource_type.action` of every entry with a notification. */
export const INBOX_ENTRIES = Object.keys(MAKERS);

const factorNotice = (row: AuditRow, title: string): Told | undefined =>
  row.actor_id === null
    ? undefined
    : {
        ...{ kind: 'security', severity: 'warning', to: { users: [row.actor_id] }, mailed: true, page: null, title },
        body: `From ${row.ip_address ?? 'an unknown address'}. If this wasn't you, end your other sessions and change your password.`,
      };

const agentNotice = (row: AuditRow, title: string, type: string, page: string): Told => ({
  ...{ kind: 'security', severity: 'warning', to: OWNERS, except: row.actor_id, title, page },
  body: `By ${row.actor_label ?? 'an unknown caller'}. If you don't expect it, revoke it.`,
  resource: { type, id: row.resource_id ?? '' },
});

const name = (details: Record<string, unknown>) => (typeof details.name === 'string' ? details.name : 'without a name');

const changed = ({ changes }: Record<string, unknown>, of: string) =>
  (Array.isArray(changes) ? changes : []).find(({ field }) => field === of) as { to?: unknown } | undefined;

const standing = (value: unknown): string => String((value as { status?: unknown } | null | undefined)?.status ?? '');
const PAYMENTS: Readonly<Record<string, { title: string; body: string }>> = {
  dunning: {
    title: 'A payment failed',
    body: 'Everything keeps working for 14 days. To keep the service running, update the payment method.',
  },
  past_due: { title: 'Calls are refused until a payment arrives', body: 'None has arrived for 14 days. The dashboard stays open.' },
};

const FACTORS: Readonly<Record<string, string>> = { totp: 'An authenticator app', passkey: 'A passkey', security_key: 'A security key' };
const factor = ({ kind }: Record<string, unknown>) => FACTORS[String(kind)] ?? 'A second factor';
