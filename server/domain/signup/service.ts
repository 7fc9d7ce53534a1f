import { classifyCredential, digest, digestEquals, isMailToken, mintMailToken, mintToken } from '#server/crypto/tokens.ts';
import { dispatch, postMail } from '#server/domain/mail/service.ts';
import { knownAddressLink, signUpLink } from '#server/domain/mail/templates.ts';
import {
  accountByEmail,
  begin,
  checkPassword,
  deadLink,
  holdAddress,
  issueMailCode,
  magicUrl,
  peekLink,
  type SignIn,
  signInByLink,
} from '#server/domain/people/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Db, Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import type { PersonCtx } from '#server/kernel/person.ts';
import { inBackground } from '#server/platform/background.ts';
import { env } from '#server/platform/env.ts';
import { network, take, throttled } from '#server/platform/throttle.ts';
import type { SignUpInput } from './schema.ts';
import { documentationUrl } from './starter.ts';
import { createOwner, regionFor } from './workspaces.ts';

const day = 24 * 3_600_000;
export const POLL_SECONDS = 5;

type Anybody = Pick<Ctx, 'db' | 'ip' | 'now'>;

/**
 * A pending sign-up. Nothing of a workspace exists before the mailed link was used, and the answer, its bytes' shape and its time are the same
 * whether or not the address has an account: what differs happens after it (interface rule 20 §7.1).
 * @throws Refusal of the throttle, dependency_unavailable above SIGNUPS_PER_HOUR
 */
export async function startSignUp(
  ctx: Anybody,
  input: SignUpInput,
  options: { password_hash: string | null; type: 'rate_limit_exceeded' | 'rate_limited'; local?: boolean },
) {
  await admit(ctx, options.type, options.local);
  const handle = mintToken('claim_handle');
  const expires_at = new Date(ctx.now.getTime() + day);
  const claim = await ctx.db.signup_claims.create({
    data: {
      id: newId(),
      digest: new Uint8Array(handle.digest),
      email: input.email,
      full_name: input.full_name ?? input.tenant_name,
      tenant_name: input.tenant_name,
      tenant_slug: input.tenant_slug ?? null,
      country: input.country ?? null,
      region: regionFor(input),
      password_hash: options.password_hash,
      ip: ctx.ip,
      expires_at,
      created_at: ctx.now,
    },
    select: { id: true },
  });
  inBackground('sign-up mail', async () => {
    const mail = await ctx.db.$transaction((tx) => mailClaim(tx, claim.id, ctx.now));
    if (mail) dispatch(ctx.db, mail);
  });
  return {
    status: 'pending' as const,
    claim_handle: handle.token,
    claim_path: '/v1/signup/claim',
    poll_after_seconds: POLL_SECONDS,
    expires_at,
    message:
      'We emailed a link to this address. After a person has used it, collect the workspace and its starter key with the claim handle.',
    documentation: documentationUrl(),
  };
}

/** Three an hour per network, and a cap for the whole installation. `local` is a person at the machine of a local installation: no limit of their own. */
export async function admit(ctx: Anybody, type: 'rate_limit_exceeded' | 'rate_limited', local = false): Promise<void> {
  const rules = local ? [] : [{ what: 'signup-ip', subject: network(ctx.ip), limit: 3, window_sec: 3600 }];
  const giveBack = await throttled(rules, ctx.now, type);
  const cap = await take({ what: 'signup-all', subject: 'all', limit: env.SIGNUPS_PER_HOUR, window_sec: 3600 }, ctx.now);
  if (cap.allowed) return;
  await giveBack();
  throw new Refusal('dependency_unavailable', "Sign-up is busy. Your request wasn't processed. Try again later.", {
    retryAfter: cap.retry_after,
  });
}

/**
 * Writes the mail of a claim: a confirmation for a new address, a sign-in link for a known one, whose claim then stays pending forever. Safe to repeat:
 * one of several callers takes the claim. @returns the mail's ID to dispatch after the commit; null if there is nothing to send
 */
export async function mailClaim(tx: Tx, claimId: string, now: Date): Promise<string | null> {
  const link = mintMailToken();
  const [claim] = await tx.signup_claims.updateManyAndReturn({
    where: { id: claimId, token_digest: null, user_id: null, ready_at: null, expires_at: { gt: now } },
    data: { token_digest: new Uint8Array(link.digest) },
    select: { email: true, tenant_name: true },
  });
  if (!claim) return null;
  const known = await accountByEmail(tx, claim.email);
  if (known)
    await tx.signup_claims.update({ where: { id: claimId }, data: { token_digest: null, user_id: known.id, password_hash: null } });
  if (known?.disabled_at || !(await take({ what: 'signup-mail', subject: claim.email, limit: 3, window_sec: 86_400 }, now)).allowed)
    return null;
  if (!known) return postMail(tx, { to: claim.email, kind: 'signup', letter: signUpLink(claim.tenant_name, magicUrl(link.token)), now });
  const { token } = await issueMailCode(tx, { purpose: 'sign_in', email: known.email, user_id: known.id, now });
  return postMail(tx, { to: known.email, kind: 'sign_in', letter: knownAddressLink(magicUrl(token)), now });
}

/** What a mailed link would do, for the confirm page. Reads only. */
export async function peekMagic(
  ctx: PersonCtx,
  token: string,
): Promise<{ kind: 'sign_in' } | { kind: 'signup'; workspace: string; ask_password: boolean } | null> {
  if (await peekLink(ctx.db, 'sign_in', token, ctx.now)) return { kind: 'sign_in' };
  const claim = await claimOfLink(ctx, token);
  return claim && { kind: 'signup', workspace: claim.tenant_name, ask_password: claim.password_hash !== null && !startedHere(ctx, claim) };
}

/**
 * Uses a mailed link: signs in, or makes the person and the workspace of a sign-up and signs in. The password typed at sign-up is kept only when
 * this browser typed it, or types it again: a stranger may have signed up with this address, and must not know the password of the account.
 * @throws Refusal mfa_code_invalid for a dead link, invalid_credentials for another password than the one of the sign-up, rate_limited
 */
export async function useMagicLink(
  ctx: PersonCtx,
  input: { token: string; password?: string | undefined; keep?: boolean | undefined; scope_tenant?: string | undefined },
): Promise<SignIn> {
  const forgive = await throttled([{ what: 'link-ip', subject: network(ctx.ip), limit: 50, window_sec: 900 }], ctx.now, 'rate_limited');
  if (await peekLink(ctx.db, 'sign_in', input.token, ctx.now)) {
    const signedIn = await signInByLink(ctx, input);
    await forgive();
    return signedIn;
  }
  const seen = await claimOfLink(ctx, input.token);
  if (!seen) throw deadLink();
  const password_hash = await keptPassword(ctx, seen, input.password);
  const signedIn = await ctx.db.$transaction(async (tx) => {
    const [claim] = await tx.signup_claims.updateManyAndReturn({
      where: { id: seen.id, token_digest: { not: null }, ready_at: null },
      data: { token_digest: null, password_hash: null },
    });
    if (!claim) throw deadLink();
    await holdAddress(tx, claim.email);
    const account = await accountByEmail(tx, claim.email);
    if (account) {
      await tx.users.updateMany({ where: { id: account.id, email_verified_at: null }, data: { email_verified_at: ctx.now } });
      return begin(tx, ctx, account.id, 'link', input);
    }
    const { user, tenant } = await createOwner(
      tx,
      ctx,
      { email: claim.email, full_name: claim.full_name, password_hash, email_verified: true },
      claim,
    );
    await tx.signup_claims.update({ where: { id: claim.id }, data: { ready_at: ctx.now, tenant_id: tenant.id, user_id: user.id } });
    return begin(tx, ctx, user.id, 'signup', input);
  }, LONG);
  await forgive();
  if (ctx.signup_handle) ctx.cookies.signup = 'clear';
  return signedIn;
}

/** A workspace is some twenty rows; a busy machine may need more than the usual five seconds. */
export const LONG = { maxWait: 5_000, timeout: 20_000 };

type ClaimRow = { id: string; digest: Uint8Array; tenant_name: string; password_hash: string | null };

const claimOfLink = async (ctx: { db: Db | Tx; now: Date }, token: string): Promise<ClaimRow | null> =>
  isMailToken(token)
    ? ctx.db.signup_claims.findFirst({
        where: { token_digest: new Uint8Array(digest(token)), ready_at: null, expires_at: { gt: ctx.now } },
        select: { id: true, digest: true, tenant_name: true, password_hash: true },
      })
    : null;

const startedHere = (ctx: PersonCtx, claim: ClaimRow) =>
  ctx.signup_handle !== null &&
  classifyCredential(ctx.signup_handle).kind === 'claim_handle' &&
  digestEquals(digest(ctx.signup_handle), claim.digest);

async function keptPassword(ctx: PersonCtx, claim: ClaimRow, typed: string | undefined): Promise<string | null> {
  if (claim.password_hash === null || startedHere(ctx, claim)) return claim.password_hash;
  if (!typed) return null;
  await throttled([{ what: 'link-password', subject: claim.id, limit: 10, window_sec: 900 }], ctx.now, 'rate_limited');
  if (!(await checkPassword(claim.password_hash, typed)).valid)
    throw new Refusal(
      'invalid_credentials',
      "This isn't the password you chose at sign-up. Leave the field empty to continue without a password.",
    );
  return claim.password_hash;
}

export { STARTER_ROUTE, STARTER_SECRET, seedStarter } from './starter.ts';
export { createTenant, holdSlug } from './tenant.ts';
