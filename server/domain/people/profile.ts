import { usePhoto } from '#server/domain/pictures/service.ts';
import { companyOf } from '#server/domain/tenants/service.ts';
import { changesOf } from '#server/kernel/changes.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import type { SignedInCtx } from '#server/kernel/person.ts';
import { assertUnmodified, type Expectation } from '#server/kernel/precondition.ts';
import { places } from '#server/platform/geoip.ts';
import { auditPerson, tenantIdsOf, tenantIdsWithin } from './audit.ts';
import { hasCompanyField, managesCompany, updateFirstCompany } from './company.ts';
import { auditEnding, endedBy, endOthers, lockSignedIn, loggedInApps } from './endings.ts';
import { factorsOf } from './factor-summary.ts';
import { assertAllowedAddress, assertMayEnter, chosen, type WorkspaceRow, withinScope, workspacesOf } from './memberships.ts';
import { PersonView, type Preferences, preferencesOf, type UpdateMeInput } from './schema.ts';
import { beyondReach, reachOf, revokeSession, sessionsOf } from './sessions.ts';
import { personById } from './users.ts';

/** Everything a page needs to know about who is here (interface rule 22 §4.8). */
export async function me(ctx: SignedInCtx) {
  const all = await workspacesOf(ctx.db, ctx.user.id);
  const workspaces = withinScope(all, ctx.session);
  const active = workspaces.find((w) => w.id === ctx.session.active_tenant_id) ?? (workspaces.length === 1 ? workspaces[0] : undefined);
  const first = workspaces.find((w) => w === all[0]); // out of a bound session's sight unless it is bound to it
  return {
    user: ctx.user,
    factors: await factorsOf(ctx.db, ctx.user.id),
    csrf_token: ctx.session.csrf_token,
    session: ctx.session,
    active_workspace: active ?? null,
    workspaces,
    company:
      first && managesCompany(first) && (await mayEnter(ctx, first))
        ? { tenant_id: first.id, ...(await companyOf(ctx.db, first.id)) }
        : null,
  };
}

const mayEnter = (ctx: SignedInCtx, workspace: WorkspaceRow): Promise<boolean> =>
  assertMayEnter(ctx.db, workspace, ctx).then(
    () => true,
    (error: unknown) => {
      if (error instanceof Refusal) return false;
      throw error;
    },
  );

/**
 * Profile fields for everybody. Company fields change the workspace first joined, and whatever is refused saves nothing (interface rule 22 §6).
 * A session that only an identity provider vouched for changes no name or photo that other workspaces see.
 * @throws Refusal role_denied, mfa_required, session_scope_mismatch, forbidden, invalid
 */
export async function updateMe(ctx: SignedInCtx, input: UpdateMeInput) {
  const { full_name, timezone, date_format, locale, preferences, avatar_upload_id: upload } = input;
  const profile = definedOf({ full_name, timezone, date_format, locale, preferences });
  const fields = Object.keys(profile);
  const company = hasCompanyField(input);
  if (fields.length === 0 && upload === undefined && !company) throw new Refusal('invalid', 'Send at least one field to update.');
  const user = await ctx.db.$transaction(async (tx) => {
    if (company) await updateFirstCompany(tx, ctx, input);
    if (full_name !== undefined || upload !== undefined) await assertMayRename(tx, ctx);
    await sameAsExpected(tx, ctx, input.expected_updated_at);
    const merged = preferences && { preferences: { ...(await lockedPreferences(tx, ctx.user.id)), ...definedOf(preferences) } };
    if (fields.length > 0)
      await tx.users.update({ where: { id: ctx.user.id }, data: { ...profile, ...merged, updated_at: ctx.now }, select: { id: true } });
    const pictured = upload !== undefined && (await usePhoto(tx, ctx, upload));
    const after = await personById(tx, ctx.user.id);
    if (!after) throw notFound();
    const changes = [...changesOf(ctx.user, after, fields), ...(pictured ? [{ field: 'photo', changed: true as const }] : [])];
    const touched = upload === undefined ? fields : [...fields, 'photo'];
    if (changes.length > 0)
      await auditPerson(tx, ctx, doer(ctx), await concerned(tx, ctx, touched), {
        action: 'update',
        resource_type: 'user',
        resource_id: ctx.user.id,
        name: ctx.user.email,
        details: { field: touched.every((field) => field === 'preferences') ? 'preferences' : 'profile' },
        changes,
      });
    return after;
  });
  return me({ ...ctx, user });
}

/**
 * Colleagues in every workspace see name and photo: the identity provider of one of them doesn't change what the others see. How the dashboard looks to the
 * person, nobody else sees. @throws Refusal session_scope_mismatch
 */
export async function assertMayRename(tx: Tx, { user, session }: SignedInCtx): Promise<void> {
  const reach = reachOf(session);
  if (reach !== null && (await tenantIdsOf(tx, user.id)).some((id) => id !== reach)) throw beyondReach();
}

/**
 * Name and photo are what colleagues see, so every workspace is told of them. How the dashboard looks to the person concerns nobody else: it is noted once, where
 * they are (interface rule 22 §12).
 */
async function concerned(tx: Tx, ctx: SignedInCtx, fields: readonly string[]): Promise<string[]> {
  if (fields.includes('full_name') || fields.includes('photo')) return tenantIdsOf(tx, ctx.user.id);
  const workspaces = withinScope(await workspacesOf(tx, ctx.user.id), ctx.session);
  const here = workspaces.find((w) => w.id === ctx.session.active_tenant_id) ?? workspaces[0];
  return here ? [here.id] : [];
}

/** Read under the row's lock: of two quick changes neither takes the other back. */
async function lockedPreferences(tx: Tx, id: string): Promise<Preferences> {
  const [row] = await tx.$queryRaw<{ preferences: unknown }[]>`select preferences from users where id = ${id}::uuid for no key update`;
  return preferencesOf(row?.preferences);
}

/** Another tab may have saved meanwhile. @throws Refusal conflict with the person as they are now */
async function sameAsExpected(tx: Tx, ctx: SignedInCtx, expected: string | undefined): Promise<void> {
  if (expected === undefined) return;
  const row = async () => {
    await tx.$queryRaw`select 1 from users where id = ${ctx.user.id}::uuid for no key update`;
    const now = await personById(tx, ctx.user.id);
    if (!now) throw notFound();
    return now;
  };
  const expects: Expectation = { updated_at: new Date(expected), row, state: 'open' };
  await assertUnmodified(tx, { now: ctx.now, expects }).catch(async (error: unknown) => {
    if (expects.state !== 'stale' || !(error instanceof Refusal)) throw error;
    throw new Refusal(error.type, error.message, { extra: { ...error.extra, current: PersonView.parse(await row()) } });
  });
}

/** Everything the person is signed in with now, within the reach of the session that asks, which is marked. */
export async function listSessions(ctx: SignedInCtx) {
  const rows = await sessionsOf(ctx.db, ctx.user.id, reachOf(ctx.session), ctx.now);
  const known = await places();
  return {
    sessions: rows.map((row) => ({ ...row, ip_country: known?.of(row.ip).country ?? null, current: row.id === ctx.session.id })),
  };
}

/**
 * Ends one session, and nothing else: applications that were logged in by it go on, and the answer says how many there are.
 * @throws Refusal not_found for a session that is not the person's, is out of reach or has ended
 */
export async function endSession(ctx: SignedInCtx, input: { id: string }) {
  const reach = reachOf(ctx.session);
  const apps = await ctx.db.$transaction(async (tx) => {
    if (!isUuid(input.id) || !(await revokeSession(tx, ctx.user.id, input.id, reach, ctx.now))) throw notFound();
    await auditPerson(tx, ctx, doer(ctx), await tenantIdsWithin(tx, ctx.user.id, reach), {
      action: 'revoke',
      resource_type: 'session',
      resource_id: input.id,
      name: ctx.user.email,
    });
    return loggedInApps(tx, ctx.user.id, reach, ctx.now);
  });
  if (input.id === ctx.session.id) ctx.cookies.session = 'clear';
  return { deleted: true as const, connected_apps: apps };
}

/** Signs the person and their applications out everywhere but here; a session that an identity provider vouched for does so in its workspace. */
export async function endOtherSessions(ctx: SignedInCtx) {
  const reach = reachOf(ctx.session);
  const { token, ended } = await ctx.db.$transaction(async (tx) => {
    await lockSignedIn(tx, ctx);
    const { all, token } = await endOthers(tx, ctx, 'sessions_ended', reach);
    const entry = {
      action: 'revoke',
      resource_type: 'session',
      resource_id: null,
      name: ctx.user.email,
      details: { others: all.sessions },
    };
    await auditEnding(tx, ctx, doer(ctx), entry, all, reach);
    return { token, ended: endedBy(ctx, all) };
  });
  return { deleted: true as const, token, revoked: ended.sessions, apps: ended.apps };
}

/** @throws Refusal not_a_member, session_scope_mismatch, forbidden */
export async function selectWorkspace(ctx: SignedInCtx, input: { tenant_id: string }) {
  const workspace = chosen(await workspacesOf(ctx.db, ctx.user.id), input.tenant_id, ctx.session);
  assertAllowedAddress(workspace, ctx.ip);
  await ctx.db.sessions.update({ where: { id: ctx.session.id }, data: { active_tenant_id: workspace.id } });
  return { workspace };
}

const doer = (ctx: SignedInCtx) => ({ id: ctx.user.id, email: ctx.user.email, session_id: ctx.session.id });
const definedOf = <T extends object>(fields: T) => Object.fromEntries(Object.entries(fields).filter(([, v]) => v !== undefined));
