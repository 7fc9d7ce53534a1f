import { dispatch, postMail, sendMail } from '#server/domain/mail/service.ts';
import { passwordReset } from '#server/domain/mail/templates.ts';
import { passwordChanged } from '#server/domain/mail/templates-password.ts';
import type { Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import type { PersonCtx, SignedInCtx } from '#server/kernel/person.ts';
import { takeStepUp } from '#server/kernel/step-up.ts';
import { inBackground } from '#server/platform/background.ts';
import { env } from '#server/platform/env.ts';
import { network, throttled } from '#server/platform/throttle.ts';
import { mayMail } from './devices.ts';
import { auditEnding, type Ended, endedBy, endOthers, endPerson, lockPerson, lockSignedIn } from './endings.ts';
import { issueMailCode, peekLink, useLink } from './mail-codes.ts';
import { acceptPassword, checkPassword } from './passwords.ts';
import { deadLink } from './sign-in.ts';
import { accountByEmail, personById } from './users.ts';

/** Mails a reset link to an existing account; the answer and its time are the same for every address (interface rule 22 §2). */
export async function forgotPassword(ctx: PersonCtx, input: { email: string }): Promise<void> {
  await throttled([{ what: 'forgot-ip', subject: network(ctx.ip), limit: 10, window_sec: 3600 }], ctx.now, 'rate_limited');
  inBackground('password reset mail', async () => {
    const account = await accountByEmail(ctx.db, input.email);
    if (!account || account.disabled_at) return;
    if (!(await mayMail(ctx.db, ctx, 'forgot', account.email))) return;
    const id = await ctx.db.$transaction(async (tx) => {
      const { token } = await issueMailCode(tx, { purpose: 'password_reset', email: account.email, user_id: account.id, now: ctx.now });
      return postMail(tx, {
        to: account.email,
        kind: 'password_reset',
        letter: passwordReset(`${env.PUBLIC_ADMIN_URL}/reset?token=${token}`),
        now: ctx.now,
      });
    });
    dispatch(ctx.db, id);
  });
}

/** Sets the password by a mailed link and ends everything that stands for the person. @throws Refusal mfa_code_invalid for a dead link, invalid for a poor password */
export async function resetPassword(ctx: PersonCtx, input: { token: string; new: string }) {
  await throttled([{ what: 'reset-ip', subject: network(ctx.ip), limit: 30, window_sec: 900 }], ctx.now, 'rate_limited');
  // A refused password must not use the link up, and hashing must not hold a transaction open.
  const peeked = await peekLink(ctx.db, 'password_reset', input.token, ctx.now);
  const person = peeked && (await personById(ctx.db, peeked.user_id));
  if (!person) throw deadLink();
  const hash = await acceptPassword(input.new, person.email, 'new');
  const ended = await ctx.db.$transaction(async (tx) => {
    await lockPerson(tx, person.id);
    if (!(await useLink(tx, 'password_reset', input.token, ctx.now))) throw deadLink();
    await tx.users.update({
      where: { id: person.id },
      data: { password_hash: hash, email_verified_at: person.email_verified_at ?? ctx.now },
    });
    const all = await endPerson(tx, { user_id: person.id, reason: 'password_reset', now: ctx.now });
    await audit(tx, ctx, person, null, all);
    return endedBy(ctx, all);
  });
  notify(ctx, person.email, ended);
  return { ended };
}

/** Ends everything that stands for the person but this session, which goes on under a new token. @throws Refusal step_up_required with a factor, invalid_credentials, invalid */
export async function changePassword(ctx: SignedInCtx, input: { current: string; new: string }) {
  const forgive = await throttled([{ what: 'password-change', subject: ctx.user.id, limit: 10, window_sec: 900 }], ctx.now, 'rate_limited');
  const account = await accountByEmail(ctx.db, ctx.user.email);
  if (account && account.password_hash === null)
    throw new Refusal('invalid', 'current: this account has no password yet. Set one with the link in "Forgot password".');
  const { valid } = await checkPassword(account?.password_hash ?? null, input.current);
  if (!account || !valid) throw new Refusal('invalid_credentials', 'The current password is incorrect.');
  await forgive();
  const hash = await acceptPassword(input.new, account.email, 'new');
  const { token, ended } = await ctx.db.$transaction(async (tx) => {
    await lockSignedIn(tx, ctx);
    await takeStepUp(tx, ctx);
    await tx.users.update({ where: { id: account.id }, data: { password_hash: hash } });
    const { all, token } = await endOthers(tx, ctx, 'password_changed');
    await audit(tx, ctx, account, ctx.session.id, all);
    return { token, ended: endedBy(ctx, all) };
  });
  notify(ctx, account.email, ended);
  return { token, ended };
}

/**
 * A signed-in person proves again who they are, before an act that cannot be undone. Counted with the attempts to change the password.
 * @throws Refusal invalid_credentials, also for an account without one; rate_limited
 */
export async function confirmPassword(ctx: Pick<PersonCtx, 'db' | 'now'>, userId: string, password: string): Promise<void> {
  const forgive = await throttled([{ what: 'password-change', subject: userId, limit: 10, window_sec: 900 }], ctx.now, 'rate_limited');
  const account = await ctx.db.users.findUnique({ where: { id: userId }, select: { password_hash: true } });
  const { valid } = await checkPassword(account?.password_hash ?? null, password);
  if (!valid)
    throw new Refusal(
      'invalid_credentials',
      'The password is incorrect. If you sign in without a password, sign out and in again instead.',
    );
  await forgive();
}

const audit = (tx: Tx, ctx: PersonCtx, person: { id: string; email: string }, session_id: string | null, ended: Ended) =>
  auditEnding(
    tx,
    ctx,
    { ...person, session_id },
    { action: 'update', resource_type: 'user', resource_id: person.id, name: person.email, details: { field: 'password' } },
    ended,
  );

const notify = (ctx: PersonCtx, email: string, ended: ReturnType<typeof endedBy>) =>
  inBackground('password notice', () =>
    sendMail(ctx.db, {
      to: email,
      kind: 'password_changed',
      letter: passwordChanged(ended, `${env.PUBLIC_ADMIN_URL}/forgot`),
      now: ctx.now,
    }),
  );
