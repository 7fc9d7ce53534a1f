import type { z } from 'zod';
import { STATUSES, type Status, trialFrom } from '#server/domain/billing/service.ts';
import type { PlanName } from '#server/domain/plans/schema.ts';
import type { Ctx, Space } from '#server/kernel/context.ts';
import type { Db, Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { type AuditEntry, writeAudit } from '#server/kernel/mutate.ts';
import { db } from '#server/platform/db.ts';

// What every act of the operator shares: the workspace by its slug, the words of a refusal, and the audit entry.

export { STATUSES };

/** Brings a workspace to a plan and status. `deliberate`: the end of an Enterprise plan was wanted, and is no lapse. */
export async function movePlan(
  tx: Tx,
  tenant: { id: string; subscription_plan: string; subscription_status: string },
  plan: PlanName,
  status: Status,
  deliberate: boolean,
) {
  await tx.tenants.update({
    where: { id: tenant.id },
    data: {
      subscription_plan: plan,
      subscription_status: status,
      subscription_cancel_at: status === 'cancelled' ? new Date() : null,
      pause_reason: status === 'paused' ? 'operator' : null,
      // Each state that ends by itself counts from now.
      dunning_since: status === 'dunning' ? new Date() : null,
      past_due_since: status === 'past_due' ? new Date() : null,
      paused_until: null,
      subscription_notice: null,
      ...(status === 'trialing' && tenant.subscription_status !== 'trialing' ? trialFrom(new Date()) : {}),
      enterprise_ended_by: tenant.subscription_plan === 'enterprise' && plan !== 'enterprise' && deliberate ? 'operator' : null,
    },
  });
  await audit(tx, tenant.id, {
    action: 'update',
    resource_type: 'billing',
    resource_id: tenant.id,
    reason: 'operator',
    details: { from: { plan: tenant.subscription_plan, status: tenant.subscription_status }, to: { plan, status }, deliberate },
  });
}

/** @throws Refusal not_found */
export async function bySlug(tx: Tx | Db, slug: string) {
  const tenant = await tx.tenants.findUnique({ where: { slug } });
  if (!tenant) throw new Refusal('not_found', `No workspace has the slug ${slug}.`);
  return tenant;
}

/** An entry of the operator: in Live for what concerns the whole workspace. */
export async function audit(tx: Tx, tenantId: string, entry: AuditEntry, space: Space = 'live') {
  await writeAudit(tx, operatorCtx(tenantId, space), { ...entry, workspace_level: space === 'live' });
}

/** Rights of no role: the operator calls verbs directly, and what they do is audited as done by the operator. */
export const operatorCtx = (tenantId: string, space: Space): Ctx => ({
  db: db(),
  tenant_id: tenantId,
  sandbox: space === 'test',
  actor: { type: 'operator', id: null, label: 'operator', capabilities: new Set() },
  plan: 'enterprise',
  request_id: newId(),
  ip: null,
  user_agent: 'operator',
  now: new Date(),
  warnings: [],
});

/** What the operator got wrong, naming the flag. */
export const refuse = (message: string) => new Refusal('validation_error', message);

/** @throws Refusal naming the flag and what it may be */
export function oneOf<const T extends readonly string[]>(allowed: T, value: string, flag: string): T[number] {
  if (!allowed.includes(value)) throw refuse(`${flag} must be one of: ${allowed.join(', ')}`);
  return value;
}

/** As the wire's schema of a field has it. @throws Refusal naming the flag and what is wrong */
export function fitting<T>(schema: z.ZodType<T>, value: string, flag: string): T {
  const read = schema.safeParse(value);
  if (!read.success) throw refuse(`${flag} ${read.error.issues[0]?.message.toLowerCase() ?? 'is invalid'}`);
  return read.data;
}
