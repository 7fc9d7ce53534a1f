import { denyingPolicy } from '#server/domain/policies/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { Span } from './span.ts';

/** Entries of the audit log that look like a deployment: somebody changed what calls are answered from. */
const CHANGES = ['create', 'update', 'delete', 'rotate', 'promote'];
const CAUSES = ['route', 'environment_config', 'secret', 'environment', 'client', 'ai_gateway', 'collection'];
const MOST = 50;

export const mayReadChanges = async (ctx: Ctx): Promise<boolean> =>
  ctx.actor.capabilities.has('audit_log:list') && !(await denyingPolicy(ctx, 'audit_log:list'));

/** The changes of the span, the newest first, for who may list the audit log. */
export async function annotationsOf(tx: Tx, ctx: Ctx, { from, to }: Span) {
  const rows = await tx.audit_logs.findMany({
    where: { ...own(ctx), created_at: { gte: from, lt: to }, resource_type: { in: CAUSES }, action: { in: CHANGES } },
    orderBy: [{ created_at: 'desc' }, { seq: 'desc' }],
    take: MOST,
    select: { action: true, resource_type: true, resource_id: true, actor_label: true, created_at: true },
  });
  return rows.map(({ created_at, ...row }) => ({ at: created_at, ...row }));
}
