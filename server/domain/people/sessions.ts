import { randomBase64url } from '#server/crypto/random.ts';
import { classifyCredential, digest, mintToken } from '#server/crypto/tokens.ts';
import type { Db, Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import type { LiveSession, Person } from '#server/kernel/person.ts';
import { noteAside } from '#server/platform/side-note.ts';
import { sql } from '#server/platform/sql.ts';

const hour = 3_600_000;
/** Idle and absolute lifetimes in milliseconds (interface rule 22 §3.1). */
const lifetime = { short: { idle: 12 * hour, absolute: 7 * 24 * hour }, keep: { idle: 14 * 24 * hour, absolute: 30 * 24 * hour } };

export type NewSession = {
  user_id: string;
  methods: readonly string[];
  /** Whether a second factor was proven. */
  mfa?: boolean;
  keep: boolean;
  ip: string | null;
  user_agent: string | null;
  now: Date;
  scope_tenant_id?: string | null;
  active_tenant_id?: string | null;
  /** Of the device cookie; absent for sessions that no browser began. */
  device_digest?: Uint8Array<ArrayBuffer>;
};

/** Every way to sign in ends here. The token is shown once and stored as its digest. */
export async function createSession(tx: Tx, input: NewSession): Promise<{ token: string; id: string; expires_at: Date }> {
  const minted = mintToken('session');
  const row = await tx.sessions.create({
    data: {
      id: newId(),
      digest: new Uint8Array(minted.digest),
      user_id: input.user_id,
      csrf_token: randomBase64url(32),
      auth_methods: [...input.methods],
      mfa_at: input.mfa ? input.now : null,
      keep: input.keep,
      scope_tenant_id: input.scope_tenant_id ?? null,
      active_tenant_id: input.scope_tenant_id ?? input.active_tenant_id ?? null,
      ip: input.ip,
      user_agent: input.user_agent?.slice(0, 256) ?? null,
      device_digest: input.device_digest ?? null,
      created_at: input.now,
      last_seen_at: input.now,
      expires_at: new Date(input.now.getTime() + lifetime[input.keep ? 'keep' : 'short'].absolute),
    },
    select: { id: true, expires_at: true },
  });
  return { token: minted.token, ...row };
}

/**
 * The live session of a `ses_` token and its person, or null: unknown, revoked, idle too long, past its end, or a disabled account.
 * One indexed read on every request, so that a deleted row ends the session on the next one.
 */
export async function sessionOf(token: string, now: Date): Promise<{ session: LiveSession; user: Person } | null> {
  if (classifyCredential(token).kind !== 'session') return null;
  const { rows } = await sql().query<LiveSession & Caps & Record<string, unknown>>({
    name: 'session-of',
    text: LOOKUP,
    values: [digest(token)],
  });
  const row = rows[0];
  if (!row) return null;
  const { idle_cap, max_cap, ...capless } = row;
  if (hasEnded(row, now)) return null;
  if (now.getTime() - row.last_seen_at.getTime() >= 60_000)
    await noteAside(() =>
      sql().query({
        name: 'session-seen',
        text: 'update sessions set last_seen_at = $2 where id = $1 and last_seen_at < $2',
        values: [row.id, now],
      }),
    );
  const {
    u_id,
    u_email,
    u_email_verified_at,
    u_full_name,
    u_timezone,
    u_date_format,
    u_locale,
    u_avatar,
    u_preferences,
    u_has_password,
    u_created_at,
    u_updated_at,
    ...session
  } = capless;
  const user = {
    id: u_id,
    email: u_email,
    email_verified_at: u_email_verified_at,
    full_name: u_full_name,
    timezone: u_timezone,
    date_format: u_date_format,
    locale: u_locale,
    avatar: u_avatar,
    preferences: u_preferences,
    has_password: u_has_password,
    created_at: u_created_at,
    updated_at: u_updated_at,
  } as Person;
  return { session: session as LiveSession, user };
}

/**
 * The shortest lifetimes that the workspaces of a session allow, in milliseconds; null where none has a cap. A session ends for all of them: it can't be
 * kept alive in one workspace for another.
 */
type Caps = { idle_cap: number | null; max_cap: number | null };
const CAPS = `left join lateral (
    select min((t.settings ->> 'session_idle_minutes')::float8) * 60000 as idle_cap, min((t.settings ->> 'session_max_hours')::float8) * 3600000 as max_cap
    from memberships c join tenants t on t.id = c.tenant_id
    where c.user_id = s.user_id and c.removed_at is null and t.deleted_at is null and (s.scope_tenant_id is null or t.id = s.scope_tenant_id)) caps on true`;

type Aging = Pick<LiveSession, 'keep' | 'created_at' | 'last_seen_at' | 'expires_at'> & Caps;

/** Past its end, or idle too long. */
function hasEnded({ keep, created_at, last_seen_at, expires_at, idle_cap, max_cap }: Aging, now: Date): boolean {
  const idle = Math.min(lifetime[keep ? 'keep' : 'short'].idle, idle_cap ?? Number.POSITIVE_INFINITY);
  return (
    now >= expires_at ||
    now.getTime() - last_seen_at.getTime() >= idle ||
    (max_cap !== null && now.getTime() - created_at.getTime() >= max_cap)
  );
}

/**
 * Whether a member may still act as when their call began: the session lives, the account too, and the membership has the same role. For calls
 * that stay open, such as the live view of the log; looking does not count as use of the session.
 */
export async function isStillMember(member: { user_id: string; session_id: string; tenant_id: string; role: string }, now: Date) {
  const { rows } = await sql().query<Aging>({
    name: 'still-member',
    text: `select s.keep, s.created_at, s.last_seen_at, s.expires_at, caps.idle_cap, caps.max_cap
      from sessions s join users u on u.id = s.user_id join memberships m on m.user_id = u.id join tenants t on t.id = m.tenant_id ${CAPS}
      where s.id = $1 and u.id = $2 and m.tenant_id = $3 and m.role = $4 and s.revoked_at is null and u.disabled_at is null and m.removed_at is null and t.deleted_at is null`,
    values: [member.session_id, member.user_id, member.tenant_id, member.role],
  });
  return rows[0] !== undefined && !hasEnded(rows[0], now);
}

const LOOKUP = `select s.id, s.user_id, s.csrf_token, s.auth_methods, s.mfa_at, s.keep, s.scope_tenant_id, s.active_tenant_id, s.ip, s.user_agent, s.created_at, s.last_seen_at, s.expires_at,
    u.id as u_id, u.email as u_email, u.email_verified_at as u_email_verified_at, u.full_name as u_full_name, u.timezone as u_timezone, u.date_format as u_date_format,
    u.locale as u_locale, u.avatar as u_avatar, u.preferences as u_preferences, u.password_hash is not null as u_has_password, u.created_at as u_created_at, u.updated_at as u_updated_at, caps.idle_cap, caps.max_cap
  from sessions s join users u on u.id = s.user_id ${CAPS} where s.digest = $1 and s.revoked_at is null and u.disabled_at is null`;

/**
 * The workspace that a session can't reach beyond (interface rule 22 §3.3): that of the identity provider which vouched for it. Null: everything of the person,
 * who has proven the account itself.
 */
export const reachOf = (session: Pick<LiveSession, 'auth_methods' | 'scope_tenant_id'>): string | null =>
  vouchedFor(session) ? (session.scope_tenant_id ?? NOWHERE) : null;
/** What such a session is answered where it would reach the person's account, or another workspace. */
export const beyondReach = () =>
  new Refusal(
    'session_scope_mismatch',
    'Single sign-on opened this session for one workspace, and this reaches beyond it. Sign in with your password, a passkey or an emailed code, then try again.',
  );
const NOWHERE = '00000000-0000-0000-0000-000000000000';
const within = (reach: string | null) => (reach === null ? {} : { scope_tenant_id: reach });

/** The person's live sessions within the reach of one of them, newest use first. */
export const sessionsOf = (db: Db | Tx, userId: string, reach: string | null, now: Date) =>
  db.sessions.findMany({
    where: { ...live(now), user_id: userId, ...within(reach) },
    orderBy: { last_seen_at: 'desc' },
    take: 100,
    select: {
      id: true,
      auth_methods: true,
      ip: true,
      user_agent: true,
      created_at: true,
      last_seen_at: true,
      expires_at: true,
      scope_tenant_id: true,
    },
  });

/** Ends one session of the person. @returns whether there was one to end */
export async function revokeSession(tx: Tx, userId: string, id: string, reach: string | null, now: Date): Promise<boolean> {
  const { count } = await tx.sessions.updateMany({
    where: { ...live(now), id, user_id: userId, ...within(reach) },
    data: { revoked_at: now },
  });
  return count > 0;
}

/**
 * Whether a workspace's identity provider alone said who this is. Good in that workspace; it proves nothing about the account, which is of other workspaces too.
 */
export const vouchedFor = ({ auth_methods }: Pick<LiveSession, 'auth_methods'>): boolean => auth_methods.includes('sso');

/** The same session under a new token, after its rights or its person's password changed. */
export async function renewToken(tx: Tx, session: Pick<LiveSession, 'id' | 'expires_at'>): Promise<{ token: string; expires_at: Date }> {
  const minted = mintToken('session');
  await tx.sessions.update({ where: { id: session.id }, data: { digest: new Uint8Array(minted.digest), csrf_token: randomBase64url(32) } });
  return { token: minted.token, expires_at: session.expires_at };
}

/** Live but for idleness, which only matters where somebody acts. */
const live = (now: Date) => ({ revoked_at: null, expires_at: { gt: now } });
