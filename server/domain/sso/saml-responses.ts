import { isAttemptSecret, newBrowserSecret, newState } from '#server/crypto/sign-in-attempt.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { PersonCtx } from '#server/kernel/person.ts';
import { env } from '#server/platform/env.ts';
import { network, take, throttled } from '#server/platform/throttle.ts';
import { connectionNamed, serviceOf } from './addresses.ts';
import { createAttempt, digestOf, keepIdentity } from './attempts.ts';
import { type Connection, connectionOf, isUsable, samlProviderOf } from './connections.ts';
import { failed, limited, problemOf } from './failures.ts';
import { type Identity, refused } from './identities.ts';
import { verifiedResponse } from './saml-reading.ts';

/**
 * The POST of a provider's page. It comes from another site, so the browser sends no SameSite=Lax cookie with it: what it asserts is verified and kept, and
 * nobody is signed in. The redirect that follows is a top-level GET, which has the cookie, and only the browser that began the attempt gets a session.
 * @throws Refusal sso_refused
 */
export async function takeSamlResponse(
  ctx: PersonCtx,
  input: { SAMLResponse?: string; RelayState?: string },
): Promise<{ location: string }> {
  await limited(ctx, 'sso-acs');
  if (!input.SAMLResponse) throw refused('assertion_invalid');
  const state = input.RelayState;
  const attempt = isAttemptSecret(state) ? await ctx.db.sso_attempts.findUnique({ where: { state_digest: digestOf(state) } }) : null;
  if (!attempt) return takeUnsolicited(ctx, input.SAMLResponse);
  const connection = await connectionOf(ctx.db, attempt.connection_id);
  if (connection?.kind !== 'saml' || attempt.request_id === null || attempt.answered_at || attempt.expires_at <= ctx.now)
    throw refused('expired');
  const responses = { what: 'sso-attempt', subject: attempt.id, limit: MOST_RESPONSES, window_sec: 600 };
  if (!(await take(responses, ctx.now)).allowed) throw refused('expired');
  try {
    await keepAssertion(ctx, connection, input.SAMLResponse, attempt.request_id, (tx, identity) =>
      keepIdentity(tx, attempt.id, identity, ctx.now),
    );
  } catch (error) {
    if (attempt.purpose !== 'test') return failed(ctx, error, connection, null);
    await ctx.db.sso_attempts.update({ where: { id: attempt.id }, data: { ...problemOf(error), answered_at: ctx.now } });
  }
  return { location: callbackFor(state as string) };
}

/** To one attempt: a provider's page posts once, and again when somebody goes back. */
const MOST_RESPONSES = 5;

/** A response that nobody asked for, where the connection allows it. It is bound to this browser now, since nothing bound it before. */
async function takeUnsolicited(ctx: PersonCtx, response: string): Promise<{ location: string }> {
  // Only a hint where to look: the connection's certificates and entity ID decide.
  const named = connectionNamed(Buffer.from(response, 'base64').toString('latin1'));
  const connection = named === undefined ? null : await connectionOf(ctx.db, named);
  if (!connection?.allow_idp_initiated || connection.kind !== 'saml' || !isUsable(connection)) throw refused('expired');
  // By connection too, since anybody may send one from anywhere. Whoever begins at the sign-in page is never counted here.
  const giveBack = await throttled(
    [{ what: 'sso-responses', subject: connection.id, limit: 1_000, window_sec: 300 }],
    ctx.now,
    'rate_limited',
  );
  const secrets = { state: newState(), browser: isAttemptSecret(ctx.sso_browser) ? ctx.sso_browser : newBrowserSecret() };
  try {
    await keepAssertion(ctx, connection, response, null, async (tx, identity) => {
      const { id } = await createAttempt(tx, {
        ...secrets,
        tenant_id: connection.tenant_id,
        connection_id: connection.id,
        purpose: 'sign_in',
        now: ctx.now,
      });
      await keepIdentity(tx, id, identity, ctx.now);
    });
    await giveBack();
  } catch (error) {
    return failed(ctx, error, connection, null);
  }
  ctx.cookies.sso = secrets.browser;
  return { location: callbackFor(secrets.state) };
}

const callbackFor = (state: string) => `${env.PUBLIC_ADMIN_URL}/auth/sso/callback?state=${state}`;

/** Verifies a response, uses its assertion up, and keeps what it says, in one transaction. */
async function keepAssertion(
  ctx: PersonCtx,
  connection: Connection,
  response: string,
  request_id: string | null,
  keep: (tx: Tx, identity: Identity) => Promise<unknown>,
): Promise<void> {
  const about = { idp: samlProviderOf(connection), sp: serviceOf(connection.id), request_id, now: ctx.now };
  const said = await verifiedResponse({ response, ...about }, network(ctx.ip));
  const { assertion_id, expires_at, contexts, ...person } = said;
  // The workspace owns the domain and chose this provider: what it says of addresses in that domain counts as verified.
  const identity: Identity = { ...person, email_verified: true, methods: contexts, mfa: contexts.some((one) => MFA_CONTEXTS.has(one)) };
  await ctx.db.$transaction(async (tx) => {
    const { count } = await tx.sso_assertions.createMany({
      data: [{ tenant_id: connection.tenant_id, connection_id: connection.id, digest: digestOf(assertion_id), expires_at }],
      skipDuplicates: true,
    });
    if (count === 0) throw refused('assertion_replayed');
    await keep(tx, identity);
  });
}

/** Authentication contexts that mean more than one factor. */
const MFA_CONTEXTS: ReadonlySet<string> = new Set([
  'http://schemas.microsoft.com/claims/multipleauthn',
  'https://refeds.org/profile/mfa',
  'urn:oasis:names:tc:SAML:2.0:ac:classes:MobileTwoFactorContract',
  'urn:oasis:names:tc:SAML:2.0:ac:classes:MobileTwoFactorUnregistered',
]);
