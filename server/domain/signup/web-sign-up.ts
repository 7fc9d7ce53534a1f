import type { z } from 'zod';
import {
  acceptPassword,
  assertMayEnter,
  assertMayRename,
  auditCtx,
  auditPerson,
  begin,
  chosen,
  holdAddress,
  type SignIn,
  scopeMismatch,
  tenantIdsOf,
  workspacesOf,
} from '#server/domain/people/service.ts';
import { isServableStatus } from '#server/domain/tenants/schema.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { writeAudit } from '#server/kernel/mutate.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import type { PersonCtx, SignedInCtx } from '#server/kernel/person.ts';
import { isOnThisMachine } from '#server/platform/local-caller.ts';
import { mailLeaves } from '#server/platform/mail.ts';
import { network, throttled } from '#server/platform/throttle.ts';
import type { Onboarding, WebSignUp } from './schema.ts';
import { admit, LONG, startSignUp } from './service.ts';
import { firstCall, mintStarterKey, starterUrl } from './starter.ts';
import { createOwner, createWorkspace } from './workspaces.ts';

type WebInput = z.output<typeof WebSignUp>;

/**
 * The web form. On a fresh installation that cannot send mail the first person gets in at once; everybody after, and everybody where mail works,
 * confirms the address first (interface rule 20 §7.4). The password is hashed before anything is looked up, so the time tells nothing.
 */
export async function signUpOnTheWeb(
  ctx: PersonCtx,
  { password, ...input }: WebInput,
): Promise<SignIn | { status: 'check_mail'; message: string }> {
  // A hash costs a tenth of a second and 64 MiB, and anybody may ask for one: counted before, wide enough for a few poor passwords.
  const local = isOnThisMachine(ctx);
  if (!local) await throttled([{ what: 'signup-hash-ip', subject: network(ctx.ip), limit: 20, window_sec: 3600 }], ctx.now, 'rate_limited');
  const password_hash = await acceptPassword(password, input.email, 'password');
  if (!mailLeaves()) {
    const signedIn = await firstAccount(ctx, input, password_hash);
    if (signedIn) return signedIn;
  }
  const pending = await startSignUp(ctx, input, { password_hash, type: 'rate_limited', local });
  ctx.cookies.signup = { handle: pending.claim_handle, expires_at: pending.expires_at };
  return { status: 'check_mail', message: 'We sent you an email. Open its link to continue.' };
}

/** Null when somebody is here already. The lock lets one of several first people be the first. */
const firstAccount = (ctx: PersonCtx, input: Omit<WebInput, 'password'>, password_hash: string): Promise<SignIn | null> =>
  ctx.db.$transaction(async (tx) => {
    if (await tx.users.findFirst({ select: { id: true } })) return null;
    await holdLock(tx, 'signup:first');
    await holdAddress(tx, input.email);
    if (await tx.users.findFirst({ select: { id: true } })) return null;
    await admit(ctx, 'rate_limited', isOnThisMachine(ctx));
    const { user } = await createOwner(
      tx,
      ctx,
      { email: input.email, full_name: input.full_name ?? input.tenant_name, password_hash, email_verified: false },
      input,
    );
    return begin(tx, ctx, user.id, 'signup', {});
  }, LONG);

/**
 * The Test key of a new workspace, shown once on the page that asks for it: as long as Test never had a key (interface rule 64 §4).
 * @throws Refusal not_a_member, forbidden, sso_required, mfa_required, role_denied, subscription_inactive, conflict
 */
export async function starterKey(ctx: SignedInCtx, input: { tenant_id?: string | undefined }) {
  const workspace = chosen(await workspacesOf(ctx.db, ctx.user.id), input.tenant_id ?? null, ctx.session);
  await assertMayEnter(ctx.db, workspace, ctx);
  if (workspace.role !== 'owner' && workspace.role !== 'admin')
    throw new Refusal('role_denied', 'Only an Owner or Admin can collect the starter key.');
  assertServable(workspace);
  return ctx.db.$transaction(async (tx) => {
    await holdLock(tx, `starter-key:${workspace.id}`);
    if (await tx.api_keys.findFirst({ where: { tenant_id: workspace.id, sandbox: true }, select: { id: true } }))
      throw new Refusal('conflict', "This workspace's first Test key was already collected. Create another one under API keys.");
    const audit = auditCtx(ctx, { id: ctx.user.id, email: ctx.user.email, session_id: ctx.session.id }, workspace.id, true);
    const key = await mintStarterKey(tx, workspace.id, audit.actor, ctx.now);
    await writeAudit(tx, audit, {
      action: 'create',
      resource_type: 'api_key',
      resource_id: key.id,
      name: key.name,
      details: { key_id: key.key_id, key_type: key.key_type, via: 'signup' },
    });
    ctx.changes.push(`${workspace.id}:test`);
    return { ...key, key_type: 'test' as const, curl: firstCall(workspace.slug, key.api_key), route_url: starterUrl(workspace.slug) };
  });
}

/** While a subscription is ended nothing is built (interface rule 20 §5). */
function assertServable({ status }: { status: string }): void {
  if (!isServableStatus(status))
    throw new Refusal('subscription_inactive', `This workspace's subscription is ${status.replace('_', ' ')}.`);
}

/**
 * Makes the person's first own workspace, or updates name and country of the one they own (interface rule 22 §4.9).
 * @throws Refusal session_scope_mismatch, subscription_inactive, forbidden, mfa_required, validation_error
 */
export async function completeOnboarding(ctx: SignedInCtx, input: z.output<typeof Onboarding>) {
  const { full_name, use_case, ...wanted } = input;
  const owner = { id: ctx.user.id, email: ctx.user.email, session_id: ctx.session.id };
  const id = await ctx.db.$transaction(async (tx) => {
    // One person pressing twice must not own two workspaces.
    await holdLock(tx, `onboarding:${ctx.user.id}`);
    const owned = (await workspacesOf(tx, ctx.user.id)).find((w) => w.role === 'owner');
    if (ctx.session.scope_tenant_id && ctx.session.scope_tenant_id !== owned?.id) throw scopeMismatch();
    if (owned && wanted.tenant_slug && wanted.tenant_slug !== owned.slug)
      throw invalid('tenant_slug', "can't be changed here; use the settings of the workspace");
    if (owned && wanted.region && wanted.region !== owned.region) throw invalid('region', "can't be changed");
    if (full_name !== ctx.user.full_name) {
      await assertMayRename(tx, ctx);
      await tx.users.update({ where: { id: ctx.user.id }, data: { full_name, updated_at: ctx.now } });
      await auditPerson(tx, ctx, owner, await tenantIdsOf(tx, ctx.user.id), {
        action: 'update',
        resource_type: 'user',
        resource_id: ctx.user.id,
        name: ctx.user.email,
        details: { field: 'profile', via: 'onboarding' },
        changes: changesOf(ctx.user, { full_name }, ['full_name']),
      });
    }
    if (!owned) {
      const tenant = await createWorkspace(tx, ctx, owner, wanted, 'onboarding');
      await tx.sessions.update({ where: { id: ctx.session.id }, data: { active_tenant_id: tenant.id } });
      return tenant.id;
    }
    assertServable(owned);
    await assertMayEnter(tx, owned, ctx);
    const after = { name: wanted.tenant_name, country: wanted.country ?? owned.country };
    await tx.tenants.update({ where: { id: owned.id }, data: { ...after, updated_at: ctx.now } });
    await writeAudit(tx, auditCtx(ctx, owner, owned.id), {
      action: 'update',
      resource_type: 'tenant',
      resource_id: owned.id,
      name: after.name,
      changes: changesOf(owned, after, ['name', 'country']),
      details: { via: 'onboarding', ...(use_case ? { use_case } : {}) },
    });
    return owned.id;
  }, LONG);
  const workspace = (await workspacesOf(ctx.db, ctx.user.id)).find((w) => w.id === id);
  if (!workspace) throw new Error('the workspace that was just written is gone');
  return { workspace };
}
