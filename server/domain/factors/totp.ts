import encodeQR from 'qr';
import { base32 } from '#server/crypto/base32.ts';
import { randomBuffer } from '#server/crypto/random.ts';
import { digest, isMailToken, mintMailToken } from '#server/crypto/tokens.ts';
import { matchingStep, otpauthUri } from '#server/crypto/totp.ts';
import { lockSignedIn } from '#server/domain/people/service.ts';
import type { Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import type { SignedInCtx } from '#server/kernel/person.ts';
import { takeStepUp } from '#server/kernel/step-up.ts';
import { throttled } from '#server/platform/throttle.ts';
import { admitEnrolment, dropCodesOfNoFactor, endOtherEnrolments, useFactorCode } from './enrolment.ts';
import { auditFactor, notifyOfFactor } from './notices.ts';
import { replaceRecoveryCodes } from './recovery-codes.ts';
import { sealSeed, withSeed } from './seeds.ts';

const SEED_BYTES = 20;
const SETUP_MS = 10 * 60_000;

/** A seed for an authenticator app. Nothing is active before a code of it was shown. @throws Refusal step_up_required, mfa_code_invalid, rate_limited */
export async function setUpTotp(ctx: SignedInCtx, input: { code?: string | undefined }) {
  if (input.code !== undefined && !ctx.step_up) await useFactorCode(ctx, input.code);
  const seed = randomBuffer(SEED_BYTES);
  try {
    const { token, digest: setup } = mintMailToken();
    const expires_at = new Date(ctx.now.getTime() + SETUP_MS);
    await ctx.db.$transaction(async (tx) => {
      await admitEnrolment(tx, ctx, { code: input.code, fresh: true });
      await tx.totp_secrets.deleteMany({ where: { user_id: ctx.user.id, enabled_at: null } });
      const id = newId();
      await tx.totp_secrets.create({
        data: { id, user_id: ctx.user.id, ...sealSeed(id, seed), setup_digest: new Uint8Array(setup), expires_at, created_at: ctx.now },
      });
    });
    const otpauth_uri = otpauthUri(ctx.user.email, seed);
    const qr_svg = encodeQR(otpauth_uri, 'svg', { ecc: 'medium', border: 2 }).replace(
      '<svg',
      '<svg shape-rendering="crispEdges" style="background:#fff"',
    );
    return { secret_base32: base32(seed), otpauth_uri, qr_svg, setup_token: token, expires_at };
  } finally {
    seed.fill(0);
  }
}

/** The first code proves that the app has the seed: it takes the place of an earlier app. @throws Refusal mfa_code_invalid, rate_limited */
export async function enableTotp(ctx: SignedInCtx, input: { setup_token: string; code: string }) {
  const forgive = await throttled([{ what: 'totp-setup', subject: ctx.user.id, limit: 10, window_sec: 900 }], ctx.now, 'rate_limited');
  const recovery_codes = await ctx.db.$transaction(async (tx) => {
    await lockSignedIn(tx, ctx);
    const where = { setup_digest: new Uint8Array(digest(input.setup_token)), user_id: ctx.user.id, expires_at: { gt: ctx.now } };
    const row = isMailToken(input.setup_token) ? await tx.totp_secrets.findFirst({ where }) : null;
    const step = row && withSeed(row, (seed) => matchingStep(seed, input.code, ctx.now, 0));
    if (!row || step === null)
      throw wrongCode('The code is incorrect, or this setup has expired. Check the time on your phone, or start again.');
    await tx.totp_secrets.deleteMany({ where: { user_id: ctx.user.id, enabled_at: { not: null } } });
    await tx.totp_secrets.update({
      where: { id: row.id },
      data: { enabled_at: ctx.now, last_step: step, setup_digest: null, expires_at: null },
    });
    await endOtherEnrolments(tx, ctx.user.id);
    await auditFactor(tx, ctx, ctx.user, { action: 'create', id: row.id, kind: 'totp' });
    return replaceRecoveryCodes(tx, ctx.user.id, ctx.now);
  });
  await forgive();
  notifyOfFactor(ctx, ctx.user, 'An authenticator app was added');
  return { enabled: true as const, recovery_codes };
}

/** Removing the last factor is allowed (interface rule 22 §5.2). @throws Refusal step_up_required, invalid without an app */
export async function disableTotp(ctx: SignedInCtx) {
  await ctx.db.$transaction(async (tx) => {
    await lockSignedIn(tx, ctx);
    await takeStepUp(tx, ctx);
    const rows = await tx.totp_secrets.findMany({ where: { user_id: ctx.user.id, enabled_at: { not: null } }, select: { id: true } });
    const [row] = rows;
    if (!row) throw new Refusal('invalid', 'This account has no authenticator app.');
    await tx.totp_secrets.deleteMany({ where: { user_id: ctx.user.id } });
    await dropCodesOfNoFactor(tx, ctx.user.id);
    await auditFactor(tx, ctx, ctx.user, { action: 'delete', id: row.id, kind: 'totp' });
  });
  notifyOfFactor(ctx, ctx.user, 'The authenticator app was removed');
}

/** @throws Refusal step_up_required */
export async function newRecoveryCodes(ctx: SignedInCtx) {
  const recovery_codes = await ctx.db.$transaction(async (tx) => {
    await lockSignedIn(tx, ctx);
    await takeStepUp(tx, ctx);
    await auditFactor(tx, ctx, ctx.user, { action: 'rotate', id: null, kind: 'recovery_codes' });
    return replaceRecoveryCodes(tx, ctx.user.id, ctx.now);
  });
  notifyOfFactor(ctx, ctx.user, 'The recovery codes were replaced');
  return { recovery_codes };
}

/**
 * Whether the code is one of the person's app, once: its step and earlier ones are refused from then on, for sign-in and step-up together and in every
 * process. Of two at once exactly one wins.
 */
export async function acceptTotp(tx: Tx, userId: string, code: string, now: Date): Promise<{ id: string } | null> {
  const row = await tx.totp_secrets.findFirst({ where: { user_id: userId, enabled_at: { not: null } } });
  const step = row && withSeed(row, (seed) => matchingStep(seed, code, now, Number(row.last_step)));
  if (!row || step === null) return null;
  const { count } = await tx.totp_secrets.updateMany({ where: { id: row.id, last_step: { lt: step } }, data: { last_step: step } });
  return count === 1 ? { id: row.id } : null;
}

export const wrongCode = (message = 'The code is incorrect or was already used. Wait for the next one.') =>
  new Refusal('mfa_code_invalid', message);
