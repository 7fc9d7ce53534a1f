import { dispatch, postMail, sendMail } from '#server/domain/mail/service.ts';
import { newSignIn, signInCode } from '#server/domain/mail/templates.ts';
import type { Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import type { Person, PersonCtx, SignedInCtx } from '#server/kernel/person.ts';
import { hasFactor } from '#server/kernel/step-up.ts';
import { inBackground } from '#server/platform/background.ts';
import { env } from '#server/platform/env.ts';
import { places } from '#server/platform/geoip.ts';
import { network, take, throttled } from '#server/platform/throttle.ts';
import { auditPerson, tenantIdsOf, tenantIdsWithin } from './audit.ts';
import { countedWith, deviceOf, isKnownDevice, isNewCountry, isNewDevice, mayMail } from './devices.ts';
import { holdPerson, lockPerson } from './endings.ts';
import { type MfaMethod, mfaMethodsOf } from './factor-summary.ts';
import { issueMailCode, peekLink, useCode, useLink } from './mail-codes.ts';
import { type WorkspaceRow, withinScope, workspacesOf } from './memberships.ts';
import { checkPassword, rehashPassword } from './passwords.ts';
import { createPendingLogin } from './pending-logins.ts';
import { preferencesOf } from './schema.ts';
import { createSession, reachOf, revokeSession } from './sessions.ts';
import { assertSsoAtSignIn } from './sso-rule.ts';
import { accountByEmail, personById } from './users.ts';

export type SignedIn = { status: 'ok'; token: string; user: Person; workspaces: WorkspaceRow[] };
/** The first factor is proven, and the account has a second one. */
export type SecondFactorOwed = { status: 'mfa_required'; mfa_token: string; expires_at: Date; methods: MfaMethod[] };
export type SignIn = SignedIn | SecondFactorOwed;
export type Scope = { keep?: boolean | undefined; scope_tenant?: string | undefined };

/**
 * E-mail and password (interface rule 22 §4.1). Unknown address, wrong password, no password and disabled account are one answer in one time.
 * @throws Refusal invalid_credentials, rate_limited, not_a_member (scope_tenant)
 */
export async function signInByPassword(ctx: PersonCtx, input: { email: string; password: string } & Scope): Promise<SignIn> {
  const forgive = await throttled(
    [
      // The network first: who is over its limit must not leave a row for every address they make up.
      { what: 'login-ip', subject: network(ctx.ip), limit: 50, window_sec: 900 },
      { what: 'login', subject: await countedWith(ctx.db, ctx, input.email), limit: 10, window_sec: 900 },
    ],
    ctx.now,
    'rate_limited',
  );
  const account = await accountByEmail(ctx.db, input.email);
  const { valid, rehash } = await checkPassword(account?.password_hash ?? null, input.password);
  if (!account || !valid || account.disabled_at) {
    if (account) inBackground('failed sign-in', () => recordFailure(ctx, account, 'password'));
    throw wrong('The email address or password is incorrect.');
  }
  await forgive(); // only failures count
  const fresh = rehash ? await rehashPassword(input.password) : null;
  return finish(ctx, account, 'password', input, async (tx) => {
    if (fresh)
      await tx.users.updateMany({ where: { id: account.id, password_hash: account.password_hash }, data: { password_hash: fresh } });
  });
}

/** Mails a code and a link to an existing account; the answer and its time are the same for every address. */
export async function startMailedSignIn(ctx: PersonCtx, input: { email: string }): Promise<void> {
  await throttled([{ what: 'magic-ip', subject: network(ctx.ip), limit: 10, window_sec: 3600 }], ctx.now, 'rate_limited');
  const requester = { device: deviceOf(ctx), network: network(ctx.ip) };
  inBackground('mailed sign-in', async () => {
    const account = await accountByEmail(ctx.db, input.email);
    if (!account || account.disabled_at) return;
    if (!(await mayMail(ctx.db, ctx, 'magic', account.email))) return;
    const id = await ctx.db.$transaction(async (tx) => {
      const { code, token } = await issueMailCode(tx, {
        purpose: 'sign_in',
        email: account.email,
        user_id: account.id,
        now: ctx.now,
        requester,
      });
      return postMail(tx, { to: account.email, kind: 'sign_in', letter: signInCode(code, magicUrl(token)), now: ctx.now });
    });
    dispatch(ctx.db, id);
  });
}

/** The address a mailed link opens: it renders a button, and only the button uses the link. */
export const magicUrl = (token: string): string => `${env.PUBLIC_ADMIN_URL}/auth/magic?token=${token}`;

/**
 * All browsers that the account does not know have 100 wrong codes a day together: a chance of one in 10,000, however many codes a stranger has mailed
 * and from however many networks. After that they need the link of the mail or another way to sign in, while known browsers still sign in by code.
 */
const strangers = (email: string) => ({ what: 'code-strangers', subject: email, limit: 100, window_sec: 86_400 });

/** The same answer for a wrong code, a used up one, and an account without one. @throws Refusal mfa_code_invalid, rate_limited */
export async function signInByCode(ctx: PersonCtx, input: { email: string; code: string } & Scope): Promise<SignIn> {
  const forgive = await throttled([{ what: 'code-ip', subject: network(ctx.ip), limit: 50, window_sec: 900 }], ctx.now, 'rate_limited');
  const known = await isKnownDevice(ctx.db, ctx, input.email);
  const counted = known ? null : await take(strangers(input.email), ctx.now);
  const requester = { device: ctx.device === null ? null : deviceOf(ctx), network: network(ctx.ip) };
  // In a transaction of its own: a failed try must stay counted.
  const found =
    counted?.allowed === false
      ? null
      : await ctx.db.$transaction(async (tx) => {
          const used = await useCode(tx, 'sign_in', input.email, input.code, requester, ctx.now);
          return used && tx.users.findUnique({ where: { id: used.user_id }, select: { id: true, login_epoch: true } });
        });
  if (!found) {
    inBackground('failed sign-in', async () => {
      const account = await accountByEmail(ctx.db, input.email);
      if (account) await recordFailure(ctx, account, 'code');
    });
    throw new Refusal('mfa_code_invalid', 'The code is incorrect or has expired. Request a new one.');
  }
  await forgive();
  await counted?.give_back();
  return finish(ctx, found, 'code', input, verified(found.id, ctx.now));
}

/** @throws Refusal mfa_code_invalid for a link that is used, expired or was never one */
export async function signInByLink(ctx: PersonCtx, input: { token: string } & Scope): Promise<SignIn> {
  return ctx.db.$transaction(async (tx) => {
    const peeked = await peekLink(tx, 'sign_in', input.token, ctx.now);
    if (peeked) await lockPerson(tx, peeked.user_id);
    const found = await useLink(tx, 'sign_in', input.token, ctx.now);
    if (!found) throw deadLink();
    await verified(found.user_id, ctx.now)(tx);
    return begin(tx, ctx, found.user_id, 'link', input);
  });
}

/** One answer for a link that was used, that expired and that never was. */
export const deadLink = () => new Refusal('mfa_code_invalid', 'This link was already used or has expired. Request a new one.');

/** Proving the mailbox verifies the address. */
const verified = (userId: string, now: Date) => (tx: Tx) =>
  tx.users.updateMany({ where: { id: userId, email_verified_at: null }, data: { email_verified_at: now } });

type Judged = { id: string; login_epoch: number };

const finish = (ctx: PersonCtx, { id, login_epoch }: Judged, method: Method, scope: Scope, first: (tx: Tx) => Promise<unknown>) =>
  ctx.db.$transaction(async (tx) => {
    await lockPerson(tx, id);
    await assertStanding(tx, id, login_epoch);
    await first(tx);
    return begin(tx, ctx, id, method, scope);
  });

/** Nothing has ended the person since the proof was judged. @throws Refusal invalid_credentials */
async function assertStanding(tx: Tx, userId: string, judged: number | null): Promise<void> {
  if (!(await holdPerson(tx, userId, judged))) throw wrong('This sign-in has ended. Sign in again.');
}

/** The first factor. */
export type Method = 'password' | 'code' | 'link' | 'signup' | 'sso';

/**
 * The end of every way to prove the first factor: a session, or for an account with a second factor the token with which that is proven
 * (interface rule 22 §4.1, §4.4). @throws Refusal invalid_credentials for a disabled account, not_a_member (scope_tenant)
 */
export async function begin(
  tx: Tx,
  ctx: PersonCtx,
  userId: string,
  method: Method,
  { keep = false, scope_tenant }: Scope,
): Promise<SignIn> {
  await assertStanding(tx, userId, null);
  const user = await personById(tx, userId);
  if (!user) throw wrong('The email address or password is incorrect.');
  const scope_tenant_id = await scopeId(tx, userId, scope_tenant);
  if (!(await hasFactor(tx, userId))) return startSession(tx, ctx, userId, { methods: [method], mfa: false, keep, scope_tenant_id });
  // Before the second factor is asked for: whoever must use single sign-on is told at once.
  await assertSsoAtSignIn(tx, user.email, await workspacesOf(tx, userId), { method, second_factor: true, scope_tenant_id });
  const owed = await createPendingLogin(tx, ctx, { user_id: userId, method, keep, scope_tenant_id });
  return { status: 'mfa_required', ...owed, methods: await mfaMethodsOf(tx, userId) };
}

/** The workspace that a session is bound to, by the slug that the person asked for. @throws Refusal not_a_member */
export async function scopeId(tx: Tx, userId: string, slug: string | undefined): Promise<string | null> {
  if (slug === undefined) return null;
  const scoped = (await workspacesOf(tx, userId)).find((w) => w.slug === slug.toLowerCase());
  if (!scoped) throw new Refusal('not_a_member', "This workspace doesn't exist, or you're not a member of it.");
  return scoped.id;
}

export type Proof = {
  /** What was proven, the first factor first. */
  methods: readonly [string, ...string[]];
  /** Whether a second factor is among it. */
  mfa: boolean;
  keep: boolean;
  scope_tenant_id: string | null;
  /** The person's `login_epoch` when the proof was judged before this transaction. */
  judged?: number;
};

/**
 * A session row, its audit entries, the notice of a new device, and the cookie. Only for a person who has proven every factor they hold; `begin` is for all
 * others. @throws Refusal invalid_credentials for a disabled account
 */
export async function startSession(tx: Tx, ctx: PersonCtx, userId: string, proof: Proof): Promise<SignedIn> {
  const { methods, mfa, keep, scope_tenant_id, judged = null } = proof;
  const [method] = methods;
  await assertStanding(tx, userId, judged);
  const user = await personById(tx, userId);
  if (!user) throw wrong('The email address or password is incorrect.');
  const all = await workspacesOf(tx, userId);
  await assertSsoAtSignIn(tx, user.email, all, { method, second_factor: mfa, scope_tenant_id });
  const workspaces = withinScope(all, { scope_tenant_id });
  const device = deviceOf(ctx);
  const known = await places();
  const isNew = {
    browser: method !== 'signup' && (await isNewDevice(tx, ctx, user, device)),
    country: method !== 'signup' && (await isNewCountry(tx, ctx, user, known)),
  };
  const session = await createSession(tx, {
    user_id: userId,
    methods,
    mfa,
    keep,
    ip: ctx.ip,
    user_agent: ctx.user_agent,
    now: ctx.now,
    scope_tenant_id,
    active_tenant_id: workspaces.length === 1 ? (workspaces[0]?.id ?? null) : null,
    device_digest: device,
  });
  const concerned = workspaces.map((w) => w.id);
  await auditPerson(tx, ctx, { id: userId, email: user.email, session_id: session.id }, concerned, {
    action: 'login',
    resource_type: 'session',
    resource_id: session.id,
    name: user.email,
    details: {
      method,
      ...(methods.length > 1 ? { second_factor: methods.at(-1) } : {}),
      ...(isNew.browser || isNew.country ? { new_device: true } : {}),
    },
  });
  if (isNew.browser || isNew.country)
    inBackground('sign-in notice', () =>
      sendMail(ctx.db, {
        to: user.email,
        kind: 'new_sign_in',
        letter: newSignIn(
          { ip: ctx.ip, ...known?.of(ctx.ip), user_agent: ctx.user_agent, at: ctx.now },
          isNew,
          `${env.PUBLIC_ADMIN_URL}/me/sessions`,
        ),
        now: ctx.now,
      }),
    );
  ctx.cookies.session = { token: session.token, expires_at: session.expires_at };
  if (ctx.mfa_token) ctx.cookies.mfa = 'clear';
  return { status: 'ok', token: session.token, user, workspaces };
}

/** Where a browser proves the second factor. */
export const SECOND_FACTOR_PAGE = '/signin/second-factor';

/** What the caller of any sign-in gets: the token once, and where a browser goes next. */
export const answerOf = (signIn: SignIn) => ({
  ...signIn,
  redirect_to: signIn.status === 'ok' ? landingOf(signIn) : SECOND_FACTOR_PAGE,
});

/** Whoever chose where the dashboard opens goes through its front door, which knows; everybody else begins in Test. */
function landingOf({ user, workspaces: [first] }: SignedIn): string {
  const { home_workspace_id, home_space, home_page } = preferencesOf(user.preferences);
  if (!first) return '/onboarding';
  return home_workspace_id || home_space || home_page !== 'home' ? '/' : `/${first.slug}/test`;
}

/** Ends the session of this call. */
export async function signOut(ctx: SignedInCtx): Promise<void> {
  await ctx.db.$transaction(async (tx) => {
    const concerned = await tenantIdsWithin(tx, ctx.user.id, reachOf(ctx.session));
    await revokeSession(tx, ctx.user.id, ctx.session.id, null, ctx.now);
    await auditPerson(tx, ctx, { id: ctx.user.id, email: ctx.user.email, session_id: ctx.session.id }, concerned, {
      action: 'logout',
      resource_type: 'session',
      resource_id: ctx.session.id,
      name: ctx.user.email,
    });
  });
  ctx.cookies.session = 'clear';
}

/** One entry per account in five minutes, however often somebody tries (interface rule 22 §12). */
export async function recordFailure(ctx: PersonCtx, account: { id: string; email: string }, method: string): Promise<void> {
  if (!(await take({ what: 'login-failed-audit', subject: account.id, limit: 1, window_sec: 300 }, ctx.now)).allowed) return;
  await ctx.db.$transaction(async (tx) => {
    await auditPerson(tx, ctx, { id: account.id, email: account.email }, await tenantIdsOf(tx, account.id), {
      action: 'login_failed',
      resource_type: 'session',
      resource_id: null,
      name: account.email,
      details: { method },
    });
  });
}

const wrong = (message: string) => new Refusal('invalid_credentials', message);
