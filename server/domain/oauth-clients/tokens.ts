import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';

/**
 * Ends what a client holds, in the caller's transaction: access tokens, and every grant of a person with its refresh tokens.
 * What is being obtained at this moment by a request that was authenticated before ends too: it carries the epoch that ends here.
 * Tokens of workloads were obtained without the secret: a rotation leaves them alone. @returns how many access tokens and grants worked until now
 */
export async function endTokens(tx: Tx, ctx: Ctx, clientRowId: string, reason: string, kinds = ['client', 'user', 'workload']) {
  await tx.oauth_clients.update({ where: { id: clientRowId, ...own(ctx) }, data: { epoch: { increment: 1 } } });
  const mine = { ...own(ctx), client_row_id: clientRowId };
  const families = await tx.oauth_families.updateMany({
    where: { ...mine, revoked_at: null, expires_at: { gt: ctx.now } },
    data: { revoked_at: ctx.now, revoked_reason: reason },
  });
  await tx.oauth_refresh.updateMany({
    where: { ...own(ctx), family: { client_row_id: clientRowId }, revoked_at: null },
    data: { revoked_at: ctx.now },
  });
  const access = await tx.oauth_access.updateMany({
    where: { ...mine, kind: { in: kinds }, revoked_at: null, expires_at: { gt: ctx.now } },
    data: { revoked_at: ctx.now },
  });
  await tx.oauth_codes.deleteMany({ where: { ...mine, used_at: null } });
  return { tokens_revoked: access.count, grants_revoked: families.count };
}
