import { dispatch, postMail } from '#server/domain/mail/service.ts';
import { emailChange, emailChangeAsked, emailChanged } from '#server/domain/mail/templates.ts';
import type { Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import type { PersonCtx, SignedInCtx } from '#server/kernel/person.ts';
import { hasFactor, takeStepUp } from '#server/kernel/step-up.ts';
import { env } from '#server/platform/env.ts';
import { network, throttled } from '#server/platform/throttle.ts';
import { auditPerson, tenantIdsOf } from './audit.ts';
import { auditEnding, type Ended, endedBy, endPerson, lockPerson, lockSignedIn } from './endings.ts';
import { dropMailCodes, issueMailCode, type MailPurpose, peekLink, useLink } from './mail-codes.ts';
import { confirmPassword } from './password-verbs.ts';
import { vouchedFor } from './sessions.ts';
import { deadLink } from './sign-in.ts';
import { accountByEmail, holdAddress, personById } from './users.ts';

const FRESH_MS = 10 * 60_000;

/**
 * Mails a link to the new address and a notice to the old one (interface rule 22 §2). A person without a second factor gives the password, or signed in within
 * ten minutes. The answer is the same for an address that has an account, which is mailed nothing. @throws Refusal step_up_required, invalid_credentials, invalid
 */
export async function requestEmailChange(ctx: SignedInCtx, input: { email: string; password?: string | undefined }): Promise<void> {
  const { user, now } = ctx;
  if (input.email === user.email) throw new Refusal('invalid', 'email: is already the address of this account');
  await throttled([{ what: 'email-change', subject: user.id, limit: 5, window_sec: 3600 }], now, 'rate_limited');
  if (!ctx.step_up) await assertRecent(ctx, input.password);
  const mails = await ctx.db.$transaction(async (tx) => {
    await lockSignedIn(tx, ctx);
    await takeStepUp(tx, ctx);
    const notice = {
      to: user.email,
      kind: 'email_change_notice',
      letter: emailChangeAsked(input.email, `${env.PUBLIC_ADMIN_URL}/me/security`),
      now,
    };
    const ids = [await postMail(tx, notice)];
    await auditEmail(tx, ctx, user, { state: 'requested' });
    if (await accountByEmail(tx, input.email)) return ids;
    const { token } = await issueMailCode(tx, { purpose: 'email_change', email: input.email, user_id: user.id, now });
    return [...ids, await postMail(tx, { to: input.email, kind: 'email_change', letter: emailChange(emailUrl(token)), now })];
  });
  for (const id of mails) dispatch(ctx.db, id);
}

async function assertRecent(ctx: SignedInCtx, password: string | undefined): Promise<void> {
  if (password !== undefined) return confirmPassword(ctx, ctx.user.id, password);
  if (!ctx.user.has_password && ctx.now.getTime() - ctx.session.created_at.getTime() <= FRESH_MS && !vouchedFor(ctx.session)) return;
  throw new Refusal(
    'invalid',
    ctx.user.has_password
      ? 'password: is required'
      : 'Sign in again to change your address: with a code that is mailed to you, within the last ten minutes.',
  );
}

const emailUrl = (token: string) => `${env.PUBLIC_ADMIN_URL}/auth/email?token=${token}`;

/** What a mailed link would do, for its page. Reads only: mail scanners open links. */
export async function peekEmailLink(ctx: PersonCtx, token: string): Promise<'email_change' | 'email_undo' | null> {
  for (const purpose of ['email_change', 'email_undo'] as const) if (await peekLink(ctx.db, purpose, token, ctx.now)) return purpose;
  return null;
}

/** The new address takes the place of the old one, which is mailed the way back. @throws Refusal mfa_code_invalid for a dead link, conflict */
export async function confirmEmailChange(ctx: PersonCtx, { token }: { token: string }): Promise<{ email: string }> {
  await limited(ctx);
  const { email, mail } = await ctx.db.$transaction(async (tx) => {
    const { link, person } = await linked(tx, ctx, 'email_change', token);
    await moveTo(tx, link.email, person.id, ctx.now);
    await dropMailCodes(tx, person.id, ctx.now);
    const undo = await issueMailCode(tx, { purpose: 'email_undo', email: person.email, user_id: person.id, now: ctx.now });
    await auditEmail(tx, ctx, person, { to: link.email });
    const letter = emailChanged(link.email, emailUrl(undo.token));
    return { email: link.email, mail: await postMail(tx, { to: person.email, kind: 'email_changed', letter, now: ctx.now }) };
  });
  dispatch(ctx.db, mail);
  return { email };
}

/**
 * The address that the link was mailed to is that of the account again, and everything that stands for the person ends. So do links of later changes: whoever held a later
 * address must not take this back, and nothing that they set up opens the account. @throws Refusal mfa_code_invalid for a dead link, conflict
 */
export async function undoEmailChange(ctx: PersonCtx, { token }: { token: string }) {
  await limited(ctx);
  return ctx.db.$transaction(async (tx) => {
    const { link, person } = await linked(tx, ctx, 'email_undo', token);
    await moveTo(tx, link.email, person.id, ctx.now);
    const later = { user_id: person.id, purpose: 'email_undo', used_at: null, created_at: { gte: link.created_at } };
    await tx.mail_codes.updateMany({ where: later, data: { used_at: ctx.now } });
    const ended = await endPerson(tx, { user_id: person.id, reason: 'email_undone', now: ctx.now });
    await dropWhatFollowed(tx, person.id, link.created_at);
    await auditEmail(tx, ctx, person, { to: link.email, state: 'undone' }, ended);
    return { email: link.email, ended: endedBy(ctx, ended) };
  });
}

/** Uses a link up and answers whose it was, once nothing else changes that person. @throws Refusal mfa_code_invalid for a dead link */
async function linked(tx: Tx, ctx: PersonCtx, purpose: MailPurpose, token: string) {
  const peeked = await peekLink(tx, purpose, token, ctx.now);
  if (peeked) await lockPerson(tx, peeked.user_id);
  const link = await useLink(tx, purpose, token, ctx.now);
  const person = link && (await personById(tx, link.user_id));
  if (!link || !person) throw deadLink();
  return { link, person };
}

/** Ways to sign in since the change. The password too, whoever chose it: a mail to the address that is back sets another one. */
async function dropWhatFollowed(tx: Tx, userId: string, since: Date): Promise<void> {
  const later = { user_id: userId, created_at: { gte: since } };
  await tx.users.update({ where: { id: userId }, data: { password_hash: null }, select: { id: true } });
  await tx.webauthn_credentials.deleteMany({ where: later });
  await tx.totp_secrets.deleteMany({ where: later });
  await tx.user_identities.deleteMany({ where: later });
  if (!(await hasFactor(tx, userId))) await tx.recovery_codes.deleteMany({ where: { user_id: userId } });
}

const limited = (ctx: PersonCtx) =>
  throttled([{ what: 'email-link-ip', subject: network(ctx.ip), limit: 30, window_sec: 900 }], ctx.now, 'rate_limited');

/** @throws Refusal conflict when somebody else has the address by now */
async function moveTo(tx: Tx, email: string, userId: string, now: Date): Promise<void> {
  await holdAddress(tx, email);
  const other = await accountByEmail(tx, email);
  if (other && other.id !== userId) throw new Refusal('conflict', 'This address belongs to another account.');
  await tx.users.update({ where: { id: userId }, data: { email, email_verified_at: now, updated_at: now }, select: { id: true } });
}

async function auditEmail(
  tx: Tx,
  ctx: PersonCtx,
  person: { id: string; email: string },
  { to, state }: { to?: string; state?: string },
  ended?: Ended,
) {
  const doer = { ...person, session_id: ctx.session?.id ?? null };
  const entry = {
    action: 'update',
    resource_type: 'user',
    resource_id: person.id,
    name: person.email,
    details: { field: 'email', ...(state ? { state } : {}) },
    ...(to ? { changes: [{ field: 'email', from: person.email, to }] } : {}),
  };
  await (ended ? auditEnding(tx, ctx, doer, entry, ended) : auditPerson(tx, ctx, doer, await tenantIdsOf(tx, person.id), entry));
}
