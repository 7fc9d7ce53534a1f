import { randomBuffer } from '#server/crypto/random.ts';
import { type Answer, type FactorKeyKind, registrationOptions, verifiedRegistration } from '#server/crypto/webauthn.ts';
import { lockSignedIn, PASSKEY_COLUMNS } from '#server/domain/people/service.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import type { SignedInCtx } from '#server/kernel/person.ts';
import { hasFactor, stepUpRequired, takeStepUp } from '#server/kernel/step-up.ts';
import { ceremonyRefusal, issueChallenge, relyingParty, useChallenge } from './challenges.ts';
import { admitEnrolment, dropCodesOfNoFactor, endOtherEnrolments, mailFactorCode, useFactorCode } from './enrolment.ts';
import { auditFactor, notifyOfFactor } from './notices.ts';
import { replaceRecoveryCodes } from './recovery-codes.ts';

const MOST = 20;

/** Mails the code for the first factor of an account; one that has a factor confirms instead, and no mail is sent. @throws Refusal step_up_required, rate_limited */
export async function challengeFirstPasskey(ctx: SignedInCtx): Promise<void> {
  if (await hasFactor(ctx.db, ctx.user.id)) throw stepUpRequired('mfa.credential');
  await mailFactorCode(ctx);
}

/** @throws Refusal step_up_required, mfa_code_invalid, conflict with 20 passkeys */
export async function passkeyOptions(ctx: SignedInCtx, { code, kind }: { code?: string | undefined; kind: FactorKeyKind }) {
  if (code !== undefined && !ctx.step_up) await useFactorCode(ctx, code);
  return ctx.db.$transaction(async (tx) => {
    await admitEnrolment(tx, ctx, { code, fresh: false });
    const known = await tx.webauthn_credentials.findMany({
      where: { user_id: ctx.user.id },
      select: { credential_id: true, transports: true },
    });
    assertRoom(known.length);
    const user = { handle: await userHandle(tx, ctx.user.id), email: ctx.user.email, name: ctx.user.full_name };
    const options = await registrationOptions(relyingParty(), { user, kind, known });
    const made = { purpose: 'register' as const, user_id: ctx.user.id, session_id: ctx.session.id, kind };
    return { options, challenge: options.challenge, expires_at: await issueChallenge(tx, options.challenge, made, ctx.now) };
  });
}

/** 32 random bytes that never change and say nothing of the account: authenticators store them. */
async function userHandle(tx: Tx, userId: string): Promise<Uint8Array<ArrayBuffer>> {
  const row = await tx.users.findUniqueOrThrow({ where: { id: userId }, select: { webauthn_user_id: true } });
  if (row.webauthn_user_id) return row.webauthn_user_id;
  const handle = randomBuffer(32);
  await tx.users.update({ where: { id: userId }, data: { webauthn_user_id: handle }, select: { id: true } });
  return handle;
}

/**
 * Stores the new passkey. The first factor of an account comes with recovery codes: without them a lost device locks the person out.
 * @throws Refusal invalid for a challenge of something else, webauthn_failed, conflict
 */
export async function registerPasskey(ctx: SignedInCtx, input: { credential: Answer; challenge: string; name: string }) {
  const made = { purpose: 'register' as const, user_id: ctx.user.id, session_id: ctx.session.id };
  const kind = (await useChallenge(ctx.db, input.challenge, made, ctx.now)).kind as FactorKeyKind; // written by passkeyOptions
  const key = await verifiedRegistration(relyingParty(), input.credential, { challenge: input.challenge, kind }).catch((error: unknown) => {
    throw ceremonyRefusal(error);
  });
  const registered = await ctx.db.$transaction(async (tx) => {
    await lockSignedIn(tx, ctx);
    assertRoom(await tx.webauthn_credentials.count({ where: { user_id: ctx.user.id } }));
    const first = !(await hasFactor(tx, ctx.user.id));
    if (await tx.webauthn_credentials.findUnique({ where: { credential_id: key.credential_id }, select: { id: true } }))
      throw new Refusal('conflict', 'This passkey is already registered.');
    const passkey = await tx.webauthn_credentials.create({
      data: { id: newId(), user_id: ctx.user.id, kind, name: input.name, ...key, created_at: ctx.now },
      select: PASSKEY_COLUMNS,
    });
    await endOtherEnrolments(tx, ctx.user.id);
    await auditFactor(tx, ctx, ctx.user, { action: 'create', id: passkey.id, kind, name: passkey.name });
    return { passkey, recovery_codes: first ? await replaceRecoveryCodes(tx, ctx.user.id, ctx.now) : null };
  });
  notifyOfFactor(ctx, ctx.user, `${WORDS[kind]} "${input.name}" was added`);
  return registered;
}

/** @throws Refusal not_found */
export async function renamePasskey(ctx: SignedInCtx, { id, name }: { id: string; name: string }) {
  return ctx.db.$transaction(async (tx) => {
    const before = isUuid(id)
      ? await tx.webauthn_credentials.findFirst({ where: { id, user_id: ctx.user.id }, select: PASSKEY_COLUMNS })
      : null;
    if (!before) throw notFound();
    const passkey = await tx.webauthn_credentials.update({ where: { id: before.id }, data: { name }, select: PASSKEY_COLUMNS });
    const kind = before.kind as FactorKeyKind;
    await auditFactor(tx, ctx, ctx.user, { action: 'update', id: passkey.id, kind, name, details: { renamed_from: before.name } });
    return { passkey };
  });
}

/** @throws Refusal step_up_required, not_found */
export async function deletePasskey(ctx: SignedInCtx, { id }: { id: string }): Promise<void> {
  const removed = await ctx.db.$transaction(async (tx) => {
    await lockSignedIn(tx, ctx);
    await takeStepUp(tx, ctx);
    const row = isUuid(id)
      ? await tx.webauthn_credentials.findFirst({ where: { id, user_id: ctx.user.id }, select: PASSKEY_COLUMNS })
      : null;
    if (!row) throw notFound();
    await tx.webauthn_credentials.delete({ where: { id: row.id } });
    await dropCodesOfNoFactor(tx, ctx.user.id);
    await auditFactor(tx, ctx, ctx.user, { action: 'delete', id: row.id, kind: row.kind as FactorKeyKind, name: row.name });
    return row;
  });
  notifyOfFactor(ctx, ctx.user, `${WORDS[removed.kind as FactorKeyKind]} "${removed.name}" was removed`);
}

const WORDS: Record<FactorKeyKind, string> = { passkey: 'The passkey', security_key: 'The security key' };

function assertRoom(count: number): void {
  if (count >= MOST) throw new Refusal('conflict', `An account can have ${MOST} passkeys. Remove one to add another.`);
}
