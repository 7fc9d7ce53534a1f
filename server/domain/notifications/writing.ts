import type { Db } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import type { NotificationKind, Place, Severity } from './kinds.shared.ts';
import { type Settings, settingsOf } from './settings.ts';
import { mailTime } from './timing.ts';

/** Something that people of a workspace are told. */
export type Notice = {
  tenant_id: string;
  /** The event or audit entry that it is made of: whoever was told of it is not told again. */
  source: string;
  at: Date;
  space: Place;
  kind: NotificationKind;
  severity: Severity;
  title: string;
  body: string;
  /** Below the workspace. */
  link: string | null;
  resource?: { type: string; id: string };
  /** All people of these roles, or single people of any role. Followers of the resource come on top. */
  to: { roles: readonly string[] } | { users: readonly string[] };
  /** Who did it, or whom it is about, hears nothing of it. */
  except?: string | null | readonly (string | null)[];
  /** A mail with more in it is sent already, to everybody or to these addresses: none about the notification. */
  mailed?: true | readonly string[];
};

type Person = { user_id: string; email: string; role: string; user_timezone: string | null; settings: Settings };

/** Writes what each person concerned wants to hear of. Told twice of the same, it writes nothing more. @returns rows written */
export async function writeNotices(db: Pick<Db, '$queryRaw' | 'notifications'>, notices: readonly Notice[], now: Date): Promise<number> {
  let written = 0;
  const teams = new Map<string, Person[]>();
  for (const notice of notices) {
    const team = teams.get(notice.tenant_id) ?? (await teamOf(db, notice.tenant_id));
    teams.set(notice.tenant_id, team);
    const data = team.filter((person) => isConcerned(notice, person)).map((person) => rowFor(notice, person, now));
    if (data.length > 0) written += (await db.notifications.createMany({ data, skipDuplicates: true })).count;
  }
  return written;
}

function isConcerned({ kind, to, except, resource }: Notice, { user_id, role, settings }: Person): boolean {
  if (Array.isArray(except) ? except.includes(user_id) : user_id === except) return false;
  const { in_app, email } = settings.channels[kind];
  if (!in_app && !email) return false;
  const mode = resource && settings.resources.find((one) => one.resource_type === resource.type && one.resource_id === resource.id)?.mode;
  if (mode === 'mute' && kind !== 'security') return false;
  const addressed = 'roles' in to ? to.roles.includes(role) : to.users.includes(user_id);
  return addressed || (mode === 'follow' && 'roles' in to && kind !== 'security');
}

function rowFor(notice: Notice, { user_id, email: address, settings }: Person, now: Date) {
  const { tenant_id, source, at, space, kind, severity, title, body, link, resource } = notice;
  const { in_app, email } = settings.channels[kind];
  return {
    ...{ id: newId(), tenant_id, user_id, source, space, kind, severity, link, created_at: at },
    ...{ title: cut(title, 200), body: cut(body, 1_000) },
    resource_type: resource?.type ?? null,
    resource_id: resource?.id ?? null,
    group_key: resource ? `${kind}:${resource.type}:${resource.id}` : `${kind}:${title}`.slice(0, 200),
    // Only mailed: it is in the list, but doesn't ask for attention.
    read_at: in_app ? null : now,
    mail_at: email && !isMailed(notice, address) ? mailTime(kind, settings, now) : null,
  };
}

const isMailed = ({ mailed }: Notice, address: string): boolean => mailed === true || (mailed?.includes(address) ?? false);

const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

type Row = Parameters<typeof settingsOf>[0] & {
  user_id: string;
  email: string;
  role: string;
  user_timezone: string | null;
  chosen: boolean;
};

async function teamOf(db: Pick<Db, '$queryRaw'>, tenantId: string): Promise<Person[]> {
  const rows = await db.$queryRaw<Row[]>`
    select m.user_id, u.email, m.role, u.timezone as user_timezone, s.user_id is not null as chosen, s.channels, s.digest, s.quiet_from, s.quiet_until, s.timezone, s.resources
    from memberships m join users u on u.id = m.user_id
    left join notification_settings s on s.tenant_id = m.tenant_id and s.user_id = m.user_id
    where m.tenant_id = ${tenantId}::uuid and m.removed_at is null and u.disabled_at is null`;
  return rows.map(({ user_id, email, role, user_timezone, chosen, ...row }) => ({
    ...{ user_id, email, role, user_timezone },
    settings: settingsOf(chosen ? row : null, role, user_timezone),
  }));
}
