import { settingsOf } from '#server/domain/tenants/schema.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';

/** What a person minted ends with their membership, unless the workspace has turned that off (interface rule 50 §6.8). */
export async function endTokensOnOffboarding(tx: Tx, ctx: Ctx, userId: string): Promise<Record<string, number>> {
  const tenant = await tx.tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { settings: true } });
  if (!settingsOf(tenant.settings).revoke_on_offboarding) return {};
  const { count } = await tx.ai_tokens.updateMany({
    where: { ...own(ctx), created_by: userId, revoked_at: null, expires_at: { gt: ctx.now } },
    data: { capability_hmac: '', revoked_at: ctx.now },
  });
  return { ai_tokens: count };
}
