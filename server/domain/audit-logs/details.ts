import { denyingPolicy } from '#server/domain/policies/service.ts';
import { settingsOf } from '#server/domain/tenants/schema.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { AuditRow } from './entries.ts';

export type Entry = Pick<AuditRow, 'id' | 'action' | 'resource_type' | 'resource_id' | 'ip_address' | 'created_at'> & {
  details: Json;
  details_redacted?: boolean;
};
// biome-ignore lint/suspicious/noExplicitAny: the column holds any JSON; the output schema checks it
type Json = Record<string, any>;

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

/** Shapes rows for this caller as the Management API lists them. */
export async function entryMaker(tx: Tx, ctx: Ctx): Promise<(row: AuditRow) => Entry> {
  const open = await mayReadDetails(tx, ctx);
  return ({ id, action, resource_type, resource_id, details, ip_address, created_at, sandbox }) => {
    const entry = { id, action, resource_type, resource_id, details: open ? details : { sandbox }, ip_address, created_at };
    return open ? entry : { ...entry, details_redacted: true };
  };
}

/** The same with what the dashboard shows beside it. Who acted is not a detail: every role that may list entries sees it. */
export async function viewMaker(tx: Tx, ctx: Ctx) {
  const entry = await entryMaker(tx, ctx);
  return (row: AuditRow) => ({
    ...entry(row),
    store: row.store,
    sandbox: row.sandbox,
    actor: row.actor,
    request_id: row.request_id,
    user_agent: row.user_agent,
    sequence_number: row.sequence_number,
  });
}
