import { denyingPolicy } from '#server/domain/policies/service.ts';
import { settingsOf } from '#server/domain/tenants/schema.ts';
import { memberCapabilities } from '#server/kernel/capabilities.ts';
import { type Ctx, roleOf } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';

/**
 * Who reads details (interface rule 61 §2): machines always, since they were sanitised when written; people only as Owner or Admin, and not while
 * the workspace withholds them. A tenant policy against audit_log:read_details withholds from everybody it concerns.
 */
export async function mayReadDetails(tx: Tx, ctx: Ctx): Promise<boolean> {
  if (await denyingPolicy(ctx, 'audit_log:read_details')) return false;
  const role = roleOf(ctx.actor);
  if (role === null) return true;
  // No scope carries the capability, so that of a token's person counts.
  if (!memberCapabilities(role, { reveal_secrets: false }).has('audit_log:read_details')) return false;
  return !(await detailsWithheld(tx, ctx));
}

/** Whether people see details only by a reveal. */
export async function detailsWithheld(tx: Tx, ctx: Ctx): Promise<boolean> {
  const tenant = await tx.tenants.findUnique({ where: { id: ctx.tenant_id }, select: { settings: true } });
  return settingsOf(tenant?.settings).details_withheld;
}
