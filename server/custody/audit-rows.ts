import type { PoolClient } from 'pg';
import { type AuditEntry, auditDetails } from '#server/kernel/audit-entry.ts';
import { auditActor, type HotCtx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { ownSql } from '#server/platform/sql.ts';

/** A row of audit_logs on its way there. Its id is given here, so that a row written twice is there once. */
export type AuditRow = {
  id: string;
  action: string;
  resource_type: string;
  resource_id: string | null;
  details: Record<string, unknown>;
  ip_address: string | null;
  actor_type: string;
  actor_id: string | null;
  actor_label: string;
  request_id: string | null;
  user_agent: string | null;
  session_id: string | null;
  created_at: Date;
};

export function auditRow(ctx: HotCtx, entry: AuditEntry): AuditRow {
  const actor = auditActor(ctx.actor);
  return {
    id: newId(),
    action: entry.action,
    resource_type: entry.resource_type,
    resource_id: entry.resource_id,
    details: auditDetails(ctx, entry, ctx.sandbox),
    ip_address: ctx.ip,
    actor_type: actor.type,
    actor_id: actor.id,
    actor_label: actor.label,
    request_id: ctx.request_id || null,
    user_agent: ctx.user_agent?.slice(0, 256) ?? null,
    session_id: ctx.actor.type === 'member' ? ctx.actor.session_id : null,
    created_at: ctx.now,
  };
}

/** Writes rows of one workspace and space in their order, by one statement under row-level security. Durable when it resolves. */
export async function insertAuditRows(space: Pick<HotCtx, 'tenant_id' | 'sandbox'>, rows: readonly AuditRow[]): Promise<void> {
  await ownSql().query({ name: 'custody-audit', text: INSERT, values: [space.tenant_id, space.sandbox, JSON.stringify(rows)] });
}

/** The same as part of the caller's transaction. */
export async function insertAuditRowsIn(
  client: Pick<PoolClient, 'query'>,
  space: Pick<HotCtx, 'tenant_id' | 'sandbox'>,
  rows: readonly AuditRow[],
): Promise<void> {
  await client.query({ name: 'custody-audit', text: INSERT, values: [space.tenant_id, space.sandbox, JSON.stringify(rows)] });
}

/** The context is set by the statement, for the statement, before a row is read (`server/platform/own-rows.ts`). */
const INSERT = `with own as materialized (
    select set_config('app.tenant_id', $1::uuid::text, true) as tenant, set_config('app.sandbox', $2::boolean::text, true) as sandbox)
  insert into audit_logs (id, tenant_id, sandbox, action, resource_type, resource_id, details,
    ip_address, actor_type, actor_id, actor_label, request_id, user_agent, session_id, created_at)
  select r.id, $1::uuid, $2::boolean, r.action, r.resource_type, r.resource_id, r.details,
    r.ip_address, r.actor_type, r.actor_id, r.actor_label, r.request_id, r.user_agent, r.session_id, r.created_at
  from own cross join json_to_recordset($3::json) as r (id uuid, action text, resource_type text, resource_id text, details jsonb,
    ip_address text, actor_type text, actor_id text, actor_label text, request_id text, user_agent text, session_id text, created_at timestamptz)
  where own.tenant is not null and own.sandbox is not null
  on conflict (id) do nothing`;
