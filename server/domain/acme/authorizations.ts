import { type Ctx, own } from '#server/kernel/context.ts';
import { inTransaction, read } from '#server/kernel/database.ts';
import { addJob } from '#server/platform/queue.ts';
import { assertBacked } from './backing.ts';
import type { Directory } from './directory.ts';
import { spend } from './limits.ts';
import { assertServed } from './orders.ts';
import { mayMove } from './states.ts';
import { type AccountRow, type AuthorizationRow, authorizationOf, type ChallengeRow, challengeOf } from './store.ts';

/** The job that looks whether a challenge was met. */
export const VALIDATE = 'validate_acme_challenge';

/** @throws AcmeProblem */
export const getAuthorization = (ctx: Ctx, account: AccountRow, id: string): Promise<AuthorizationRow> =>
  read(ctx, (tx) => authorizationOf(tx, ctx, account, id));

/** Gives an authorization up (RFC 8555 §7.5.2); what is over stays as it is. @throws AcmeProblem */
export const deactivateAuthorization = (ctx: Ctx, account: AccountRow, id: string): Promise<AuthorizationRow> =>
  inTransaction(ctx, async (tx) => {
    const before = await authorizationOf(tx, ctx, account, id);
    if (!mayMove('authorization', before.status, 'deactivated')) return before;
    await tx.acme_authorizations.update({ where: { id: before.id, ...own(ctx) }, data: { status: 'deactivated' } });
    return authorizationOf(tx, ctx, account, before.id);
  });

/** @throws AcmeProblem */
export const getChallenge = (
  ctx: Ctx,
  account: AccountRow,
  id: string,
): Promise<{ authorization: AuthorizationRow; challenge: ChallengeRow }> => read(ctx, (tx) => challengeOf(tx, ctx, account, id));

/**
 * The client says that it is ready (RFC 8555 §7.5.1): the worker looks at once. Saying it again, or of an authorization that is decided, changes nothing.
 * @throws AcmeProblem
 */
export async function respondToChallenge(directory: Directory, ctx: Ctx, account: AccountRow, id: string) {
  assertServed(directory);
  await assertBacked(ctx, account);
  await spend('challenge', account.id, ctx.now);
  return inTransaction(ctx, async (tx) => {
    const { authorization, challenge } = await challengeOf(tx, ctx, account, id);
    if (authorization.status !== 'pending') return { authorization, challenge };
    const { count } = await tx.acme_challenges.updateMany({
      where: { ...own(ctx), id: challenge.id, status: 'pending' },
      data: { status: 'processing' },
    });
    if (count === 1) await addJob(tx, VALIDATE, { challenge_id: challenge.id }, { max_attempts: 5 });
    return challengeOf(tx, ctx, account, id);
  });
}
