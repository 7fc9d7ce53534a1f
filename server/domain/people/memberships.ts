import { settingsOf } from '#server/domain/tenants/schema.ts';
import { compileRanges } from '#server/kernel/address.ts';
import { type MemberRole, memberCapabilities } from '#server/kernel/capabilities.ts';
import type { Ctx, Space } from '#server/kernel/context.ts';
import type { Db, Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import type { LiveSession, Person } from '#server/kernel/person.ts';
import { hasFactor, mfaRequired } from '#server/kernel/step-up.ts';
import { db } from '#server/platform/db.ts';
import { env } from '#server/platform/env.ts';
import { noteAside } from '#server/platform/side-note.ts';
import { sql } from '#server/platform/sql.ts';
import { assertSsoInSession } from './sso-rule.ts';

export type WorkspaceRow = {
  id: string;
  slug: string;
  name: string;
  region: string;
  country: string | null;
  /** The id of the picture that is its logo. */
  logo: string | null;
  plan: Ctx['plan'];
  status: string;
  /** Ranges that the dashboard may be used from; empty: any. */
  ip_allowlist: readonly string[];
  /** Members with an address of its domains must use single sign-on. */
  sso_required: boolean;
  /** Every member needs a second factor. */
  require_mfa: boolean;
  role: MemberRole;
  reveal_secrets: boolean;
  migration_reviewer: boolean;
  joined_at: Date;
  /** Their last call here, to the minute or so. */
  last_active_at: Date | null;
};

/** The person's workspaces, the first joined first; a deleted workspace is none. */
export async function workspacesOf(tx: Db | Tx, userId: string): Promise<WorkspaceRow[]> {
  const rows = await tx.memberships.findMany({
    where: { user_id: userId, removed_at: null, tenant: { deleted_at: null } },
    orderBy: [{ joined_at: 'asc' }, { id: 'asc' }],
    select: {
      role: true,
      reveal_secrets: true,
      migration_reviewer: true,
      joined_at: true,
      last_active_at: true,
      tenant: {
        select: {
          id: true,
          slug: true,
          name: true,
          region: true,
          country: true,
          logo: true,
          subscription_plan: true,
          subscription_status: true,
          settings: true,
        },
      },
    },
  });
  return rows.map(({ tenant, ...row }) => ({
    id: tenant.id,
    slug: tenant.slug,
    name: tenant.name,
    region: tenant.region,
    country: tenant.country,
    logo: tenant.logo,
    // Both columns are written by the domain only, from these registers.
    plan: tenant.subscription_plan as Ctx['plan'],
    status: tenant.subscription_status,
    ip_allowlist: settingsOf(tenant.settings).dashboard_ip_allowlist,
    sso_required: settingsOf(tenant.settings).sso_required,
    require_mfa: settingsOf(tenant.settings).require_mfa,
    ...row,
    role: row.role as MemberRole,
  }));
}

/** What a session may see of the person's workspaces: a session bound to one sees that one (interface rule 22 §3.3). */
export const withinScope = (workspaces: readonly WorkspaceRow[], session: Pick<LiveSession, 'scope_tenant_id'>): WorkspaceRow[] =>
  workspaces.filter((w) => session.scope_tenant_id === null || w.id === session.scope_tenant_id);

/** How many people hold each role in the workspace, with the first five of them by name. */
export async function membersByRole(tx: Tx, ctx: Ctx): Promise<ReadonlyMap<MemberRole, { count: number; names: string[] }>> {
  const rows = await tx.$queryRaw<{ role: MemberRole; count: number; names: string[] }[]>`
    select role, count(*)::int as count, (array_agg(name order by lower(name)))[1:5] as names
    from (select m.role, coalesce(nullif(u.full_name, ''), u.email) as name from memberships m join users u on u.id = m.user_id
      where m.tenant_id = ${ctx.tenant_id}::uuid and m.removed_at is null) p
    group by role`;
  return new Map(rows.map(({ role, ...held }) => [role, held]));
}

/** Members of the workspace by name, at most `most`; with `ids` those of them that are. */
export const namedMembers = (tx: Tx, ctx: Ctx, { ids, most }: { ids?: readonly string[]; most: number }) =>
  tx.$queryRaw<{ id: string; name: string }[]>`
    select u.id::text, coalesce(nullif(u.full_name, ''), u.email) as name from memberships m join users u on u.id = m.user_id
    where m.tenant_id = ${ctx.tenant_id}::uuid and m.removed_at is null and (${ids === undefined} or u.id = any(${ids ?? []}::uuid[]))
    order by lower(coalesce(nullif(u.full_name, ''), u.email)), u.id limit ${most}`;

/** The photos of those of these people who are members of the workspace and have one. */
export async function memberPhotos(tx: Tx, ctx: Ctx, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.$queryRaw<{ id: string; photo: string }[]>`
    select u.id::text, u.avatar::text as photo from memberships m join users u on u.id = m.user_id
    where m.tenant_id = ${ctx.tenant_id}::uuid and m.removed_at is null and u.avatar is not null and u.id = any(${ids}::uuid[])`;
  return new Map(rows.map(({ id, photo }) => [id, photo]));
}

export const addMembership = (
  tx: Tx,
  input: { tenant_id: string; user_id: string; role: MemberRole; source: string; now: Date; added_by?: string },
) =>
  tx.memberships.create({
    data: {
      id: newId(),
      tenant_id: input.tenant_id,
      user_id: input.user_id,
      role: input.role,
      source: input.source,
      added_by: input.added_by ?? null,
      joined_at: input.now,
    },
    select: { id: true },
  });

export type MemberRequest = {
  person: { session: LiveSession; user: Person };
  /** X-Tenant-ID or the slug of the URL; absent: the session's choice, else the only membership (interface rule 22 §3.2). */
  workspace: string | null;
  space: Space;
  request_id: string;
  ip: string | null;
  user_agent: string | null;
  now?: Date;
};

/**
 * The signed-in person as a member acting in one workspace and space.
 * @throws Refusal not_a_member (not in it, or there is none: one answer), session_scope_mismatch, invalid "choose a workspace", forbidden for an
 * address that the workspace doesn't allow, mfa_required where it demands a second factor
 */
export async function memberCtx(request: MemberRequest): Promise<Ctx> {
  const { session, user } = request.person;
  const workspace = chosen(await workspacesOf(db(), user.id), request.workspace, session);
  await assertMayEnter(db(), workspace, { session, user, ip: request.ip });
  await noteActivity(workspace, user.id, request.now ?? new Date());
  const { role, reveal_secrets, migration_reviewer } = workspace;
  return {
    db: db(),
    tenant_id: workspace.id,
    sandbox: request.space === 'test',
    plan: workspace.plan,
    subscription_status: workspace.status,
    actor: {
      type: 'member',
      id: user.id,
      label: user.email,
      role,
      reveal_secrets,
      migration_reviewer: isReviewer(role, migration_reviewer),
      session_id: session.id,
      signed_in_at: session.created_at,
      mfa_at: session.mfa_at,
      capabilities: memberCapabilities(role, { reveal_secrets }),
    },
    request_id: request.request_id,
    ip: request.ip,
    user_agent: request.user_agent,
    now: request.now ?? new Date(),
    warnings: [],
  };
}

/** An Owner always reviews migrations; an Admin unless an Owner took it away (interface rule 24 §2). */
const isReviewer = (role: MemberRole, flag: boolean) => role === 'owner' || (role === 'admin' && flag);

/**
 * What a workspace asks of everybody who acts in it, whichever plane they come by: the address, single sign-on, a second factor.
 * @throws Refusal forbidden, sso_required, mfa_required
 */
export async function assertMayEnter(
  tx: Db | Tx,
  workspace: WorkspaceRow,
  { session, user, ip }: { session: LiveSession; user: Pick<Person, 'email'>; ip: string | null },
): Promise<void> {
  assertAllowedAddress(workspace, ip);
  await assertSsoInSession(tx, user.email, workspace, session);
  if (await lacksFactor(workspace, session, tx)) throw mfaRequired(env.PUBLIC_ADMIN_URL);
}

/** The workspace a call acts on. @throws as memberCtx */
export function chosen(
  workspaces: readonly WorkspaceRow[],
  wanted: string | null,
  session: Pick<LiveSession, 'scope_tenant_id' | 'active_tenant_id'>,
): WorkspaceRow {
  const found = wanted === null ? defaultOf(workspaces, session) : named(workspaces, wanted);
  if (!found && wanted === null && workspaces.length > 0) throw new Refusal('invalid', 'X-Tenant-ID: is required. Select a workspace.');
  if (!found) throw new Refusal('not_a_member', "This workspace doesn't exist, or you're not a member of it.");
  if (session.scope_tenant_id && session.scope_tenant_id !== found.id) throw scopeMismatch();
  return found;
}

/** The dashboard of a workspace may be limited to addresses (interface rule 22 §11). @throws Refusal forbidden */
export function assertAllowedAddress({ name, ip_allowlist }: Pick<WorkspaceRow, 'name' | 'ip_allowlist'>, ip: string | null): void {
  if (ip_allowlist.length === 0 || (ip !== null && compileRanges(ip_allowlist)(ip))) return;
  throw new Refusal(
    'forbidden',
    `${name} can't be used from your IP address${ip ? ` (${ip})` : ''}. Use an allowed network, or ask an Owner or Admin to add this one.`,
  );
}

/** A session bound to one workspace asked for another (interface rule 22 §3.3). */
export const scopeMismatch = () =>
  new Refusal(
    'session_scope_mismatch',
    'This session is scoped to a different tenant. Sign in again without choosing a workspace to access this one.',
  );

/**
 * Whether the workspace demands a second factor that the person doesn't have (interface rule 22 §8). A single sign-on of this very workspace that vouched for
 * one is as good.
 */
export const lacksFactor = async (
  { id, require_mfa }: Pick<WorkspaceRow, 'id' | 'require_mfa'>,
  session: Pick<LiveSession, 'user_id' | 'scope_tenant_id' | 'mfa_at'>,
  tx: Db | Tx = db(),
): Promise<boolean> =>
  require_mfa && !(session.scope_tenant_id === id && session.mfa_at !== null) && !(await hasFactor(tx, session.user_id));

/** What the list of members shows as last active; one write in five minutes. */
async function noteActivity({ id, last_active_at }: WorkspaceRow, userId: string, now: Date): Promise<void> {
  if (last_active_at && now.getTime() - last_active_at.getTime() < ACTIVITY_MS) return;
  await noteAside(() =>
    sql().query({
      name: 'member-active',
      text: 'update memberships set last_active_at = $3 where tenant_id = $1 and user_id = $2 and removed_at is null',
      values: [id, userId, now],
    }),
  );
}
const ACTIVITY_MS = 5 * 60_000;

const defaultOf = (workspaces: readonly WorkspaceRow[], { active_tenant_id }: Pick<LiveSession, 'active_tenant_id'>) =>
  workspaces.find((w) => w.id === active_tenant_id) ?? (workspaces.length === 1 ? workspaces[0] : undefined);

const named = (workspaces: readonly WorkspaceRow[], wanted: string) =>
  isUuid(wanted) ? workspaces.find((w) => w.id === wanted.toLowerCase()) : workspaces.find((w) => w.slug === wanted.toLowerCase());
