import {
  answerOf,
  countTry,
  holdPerson,
  mfaMethodsOf,
  type PendingLogin,
  pendingLoginOf,
  personById,
  recordFailure,
  startSession,
  usePendingLogin,
} from '#server/domain/people/service.ts';
import type { Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import type { PersonCtx } from '#server/kernel/person.ts';
import { inBackground } from '#server/platform/background.ts';
import { throttled } from '#server/platform/throttle.ts';
import { auditFactor } from './notices.ts';
import { assertSecondFactor } from './passkey-login.ts';
import { useRecoveryCode } from './recovery-codes.ts';
import type { SecondFactor } from './schema.ts';
import { acceptTotp } from './totp.ts';

/** What the page of the second factor shows of the sign-in that this browser began. @throws Refusal not_authenticated when it has ended */
export async function pendingLogin(ctx: PersonCtx, input: { mfa_token?: string | undefined }) {
  const pending = await pendingLoginOf(ctx.db, ctx, input.mfa_token);
  const user = await personById(ctx.db, pending.user_id);
  return { email: user?.email ?? '', methods: await mfaMethodsOf(ctx.db, pending.user_id), expires_at: pending.expires_at };
}

/**
 * The second step of signing in (interface rule 22 §4.2). Each try is counted before it is judged: five per sign-in, ten failures in 15 minutes per account.
 * @throws Refusal not_authenticated when the sign-in has ended, mfa_code_invalid, webauthn_failed, rate_limited
 */
export async function signInBySecondFactor(ctx: PersonCtx, input: SecondFactor) {
  const pending = await pendingLoginOf(ctx.db, ctx, input.mfa_token);
  const forgive = await throttled([{ what: 'mfa', subject: pending.user_id, limit: 10, window_sec: 900 }], ctx.now, 'rate_limited');
  await countTry(ctx.db, pending.id);
  const prove = await proofOf(ctx, pending, input);
  const signedIn = await ctx.db.$transaction(async (tx) => {
    // Before the proof is looked at: an ending that comes now waits, one that came before has taken the sign-in away.
    await holdPerson(tx, pending.user_id);
    if (!(await prove(tx))) return null;
    await usePendingLogin(tx, pending.id, ctx.now);
    const { keep, scope_tenant_id } = pending;
    return startSession(tx, ctx, pending.user_id, { methods: [pending.method, METHODS[input.method]], mfa: true, keep, scope_tenant_id });
  });
  if (!signedIn) {
    failed(ctx, pending, METHODS[input.method]);
    throw new Refusal('mfa_code_invalid', 'The code is incorrect or was already used.');
  }
  await forgive();
  return answerOf(signedIn);
}

const failed = (ctx: PersonCtx, { user_id }: PendingLogin, method: string) =>
  inBackground('failed second factor', async () => {
    const user = await personById(ctx.db, user_id);
    if (user) await recordFailure(ctx, user, method);
  });

/** As sessions and the audit log name them. */
const METHODS = { '2fa': 'totp', recovery: 'recovery', passkey: 'passkey' } as const;

/** What decides, inside the transaction that makes the session. */
async function proofOf(ctx: PersonCtx, pending: PendingLogin, input: SecondFactor): Promise<(tx: Tx) => Promise<boolean>> {
  const { user_id } = pending;
  switch (input.method) {
    case '2fa':
      return async (tx) => (await acceptTotp(tx, user_id, input.code, ctx.now)) !== null;
    case 'recovery':
      return async (tx) => {
        const used = await useRecoveryCode(tx, user_id, input.code, ctx.now);
        const user = used && (await personById(tx, user_id));
        if (!used || !user) return false;
        await auditFactor(tx, ctx, user, { action: 'login', id: used.id, kind: 'recovery_codes' });
        return true;
      };
    case 'passkey':
      await assertSecondFactor(ctx, pending, input).catch((error: unknown) => {
        failed(ctx, pending, 'passkey');
        throw error;
      });
      return async () => true;
  }
}
