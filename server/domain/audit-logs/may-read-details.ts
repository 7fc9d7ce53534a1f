import { denyingPolicy } from '#server/domain/policies/service.ts';
import { settingsOf } from '#server/domain/tenants/schema.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';

/**
 * Who reads details (interface rule 61 §2): machines always, since they were sanitised when written; people only as Owner or Admin, and not while
 * the workspace withholds them. A tenant policy against audit_log:read_details withholds from everybody it concerns.
 */
export async function mayReadDetails(tx: Tx, ctx: Ctx): Promise<boolean> {
  if (await denyingPolicy(ctx, 'audit_log:read_details')) return false;
  if (ctx.actor.type !== 'member') return true;
  if (!ctx.actor.capabilities.has('audit_log:read_details')) return false;
  const tenant = await tx.tenants.findUnique({ where: { id: ctx.tenant_id }, select: { settings: true } });
  return !settingsOf(tenant?.settings).details_withheld;
}
