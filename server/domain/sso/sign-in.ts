import { authnRequestUrl, newRequestId } from '#server/crypto/saml.ts';
import { isAttemptSecret, newBrowserSecret, newState } from '#server/crypto/sign-in-attempt.ts';
import { digestEquals } from '#server/crypto/tokens.ts';
import { answerOf, begin, startSession } from '#server/domain/people/service.ts';
import type { Db, Tx } from '#server/kernel/database.ts';
import type { PersonCtx } from '#server/kernel/person.ts';
import { serviceOf } from './addresses.ts';
import { createAttempt, digestOf, keepIdentity } from './attempts.ts';
import { type Connection, chosenConnection, connectionForEmail, connectionOf, isUsable, samlProviderOf } from './connections.ts';
import { failed, limited, testPage } from './failures.ts';
import { admit, arrivalOf, type Identity, refused } from './identities.ts';
import { oidcAddress, oidcIdentity } from './oidc.ts';
import { isSsoReason } from './reasons.shared.ts';

type AttemptRow = NonNullable<Awaited<ReturnType<Db['sso_attempts']['findUnique']>>>;

/** Whether the domain of an address has single sign-on. Says nothing about the address itself, which isn't looked up. */
export async function lookUpSso(ctx: PersonCtx, { email }: { email: string }) {
  await limited(ctx, 'sso-lookup');
  const found = await connectionForEmail(ctx.db, email);
  return { sso: found !== null, required: found?.required ?? false };
}

/**
 * Where the browser goes to sign in: for a workspace, for the domain of an address, or to test a connection. Ties the attempt to this browser by a cookie.
 * @throws Refusal sso_refused, rate_limited
 */
export async function startSso(
  ctx: PersonCtx,
  input: { email?: string; tenant?: string; test?: string; next?: string },
): Promise<{ location: string }> {
  await limited(ctx, 'sso-start');
  const browser = isAttemptSecret(ctx.sso_browser) ? ctx.sso_browser : newBrowserSecret();
  const state = newState();
  const { connection, request_id, test_id } = await ctx.db.$transaction((tx) => beginAttempt(tx, ctx, input, { browser, state }));
  ctx.cookies.sso = browser;
  try {
    const location =
      request_id === null
        ? await oidcAddress(connection, { browser, state, login_hint: input.email, now: ctx.now })
        : await authnRequestUrl(samlProviderOf(connection), serviceOf(connection.id), { id: request_id, relay_state: state });
    return { location };
  } catch (error) {
    return failed(ctx, error, connection, test_id);
  }
}

async function beginAttempt(tx: Tx, ctx: PersonCtx, input: Parameters<typeof startSso>[1], secrets: { browser: string; state: string }) {
  const test = input.test === undefined ? null : await openTest(tx, input.test, ctx.now);
  if (input.test !== undefined && !test) throw refused('expired');
  const connection = test ? await connectionOf(tx, test.connection_id) : await chosenConnection(tx, input);
  if (!connection) throw refused('unavailable');
  const request_id = connection.kind === 'saml' ? newRequestId() : null;
  if (test)
    await tx.sso_attempts.update({
      where: { id: test.id },
      data: { state_digest: digestOf(secrets.state), browser_digest: digestOf(secrets.browser), request_id },
    });
  else
    await createAttempt(tx, {
      ...secrets,
      tenant_id: connection.tenant_id,
      connection_id: connection.id,
      purpose: 'sign_in',
      request_id,
      return_to: input.next ?? null,
      now: ctx.now,
    });
  return { connection, request_id, test_id: test?.id ?? null };
}

/** A test that no browser has begun yet. */
const openTest = (tx: Tx, token: string, now: Date) =>
  tx.sso_attempts.findFirst({
    where: { state_digest: digestOf(token), purpose: 'test', browser_digest: null, used_at: null, expires_at: { gt: now } },
    select: { id: true, connection_id: true },
  });

/**
 * The browser is back. The attempt is used up before anything is exchanged, and only in the browser that began it: an answer that somebody else received
 * signs nobody in (login CSRF). @throws Refusal sso_refused
 */
export async function finishSso(ctx: PersonCtx, query: Record<string, unknown>): Promise<{ location: string }> {
  await limited(ctx, 'sso-callback');
  const { attempt, state, browser } = await claimedAttempt(ctx, query.state);
  const connection = await connectionOf(ctx.db, attempt.connection_id);
  if (!connection || (attempt.purpose === 'sign_in' && !isUsable(connection))) throw refused('unavailable');
  // Another workspace's address: whoever gave out the code didn't mean this connection.
  if (connection.kind === 'oidc' && query.tenant_id !== connection.tenant_id) throw refused('expired');
  try {
    const identity =
      connection.kind === 'saml'
        ? (attempt.identity as Identity | null)
        : await oidcIdentity(connection, query, { browser, state, now: ctx.now });
    if (!identity)
      throw attempt.reason && isSsoReason(attempt.reason) ? refused(attempt.reason, attempt.message ?? undefined) : refused('expired');
    return attempt.purpose === 'test'
      ? await recordTest(ctx, attempt, connection, identity)
      : await signIn(ctx, connection, identity, attempt.return_to);
  } catch (error) {
    return failed(ctx, error, connection, attempt.purpose === 'test' ? attempt.id : null);
  }
}

/** The open attempt of this state in this browser, used up. One answer for every way in which it isn't there. */
async function claimedAttempt(ctx: PersonCtx, state: unknown) {
  const browser = ctx.sso_browser;
  if (!isAttemptSecret(state as string) || !isAttemptSecret(browser)) throw refused('expired');
  const attempt = await ctx.db.sso_attempts.findUnique({ where: { state_digest: digestOf(state as string) } });
  if (!attempt?.browser_digest || attempt.expires_at <= ctx.now || !digestEquals(attempt.browser_digest, digestOf(browser)))
    throw refused('expired');
  const { count } = await ctx.db.sso_attempts.updateMany({ where: { id: attempt.id, used_at: null }, data: { used_at: ctx.now } });
  if (count !== 1) throw refused('expired');
  return { attempt, state: state as string, browser };
}

async function signIn(ctx: PersonCtx, connection: Connection, identity: Identity, returnTo: string | null): Promise<{ location: string }> {
  const signedIn = await ctx.db.$transaction(async (tx) => {
    const userId = await admit(tx, ctx, connection, identity);
    await tx.sso_connections.update({ where: { id: connection.id }, data: { tested_at: ctx.now } });
    const { slug } = connection.tenant;
    // A second factor of the provider counts where the workspace trusts it; otherwise one of our own is asked for, if there is one.
    if (connection.trust_mfa && identity.mfa)
      return startSession(tx, ctx, userId, { methods: ['sso'], mfa: true, keep: false, scope_tenant_id: connection.tenant_id });
    return begin(tx, ctx, userId, 'sso', { scope_tenant: slug });
  });
  const answer = answerOf(signedIn);
  if (returnTo === null) return { location: answer.redirect_to };
  // The page of the second factor goes on to it.
  return { location: answer.status === 'ok' ? returnTo : `${answer.redirect_to}?next=${encodeURIComponent(returnTo)}` };
}

/** Shows what a sign-in would do, in a transaction that is never committed. */
async function recordTest(ctx: PersonCtx, attempt: AttemptRow, connection: Connection, identity: Identity): Promise<{ location: string }> {
  await keepIdentity(ctx.db, attempt.id, identity, ctx.now);
  const arrival = await ctx.db.$transaction((tx) => arrivalOf(tx, connection, identity));
  const outcome = arrival.member
    ? `Signs in as ${arrival.email}${arrival.linked ? '' : ' and links this identity to the account'}.`
    : `Joins the workspace as ${arrival.email} with the role Member${arrival.user ? '' : ', in a new account'}.`;
  await ctx.db.sso_attempts.update({ where: { id: attempt.id }, data: { outcome } });
  await ctx.db.sso_connections.update({ where: { id: connection.id }, data: { tested_at: ctx.now } });
  return { location: testPage(connection, attempt.id) };
}
