import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { type AuditEntry, writeAudit } from '#server/kernel/mutate.ts';
import type { PersonCtx } from '#server/kernel/person.ts';

/** Who did it, as an audit row names a person: no role is involved in what they do to their own account. */
export type Doer = { id: string; email: string; session_id?: string | null };

/**
 * Writes one entry in each given workspace (interface rule 22 §12: what concerns the person is written to every workspace of theirs).
 * Runs in a system-side transaction: people and sessions lie outside row-level security.
 */
export async function auditPerson(tx: Tx, ctx: AuditedCall, doer: Doer, tenantIds: readonly string[], entry: AuditEntry): Promise<void> {
  for (const tenantId of tenantIds) await writeAudit(tx, auditCtx(ctx, doer, tenantId), { ...entry, workspace_level: true });
}

/** What an entry says of the call; the confirmation that it used included. */
export type AuditedCall = Pick<PersonCtx, 'db' | 'request_id' | 'ip' | 'user_agent' | 'now' | 'step_up'>;

/** A context for `writeAudit` alone: it holds no capability. */
export const auditCtx = (ctx: AuditedCall, doer: Doer, tenantId: string, sandbox = false): Ctx => ({
  db: ctx.db,
  tenant_id: tenantId,
  sandbox,
  plan: 'free',
  actor: {
    type: 'member',
    id: doer.id,
    label: doer.email,
    role: 'member',
    reveal_secrets: false,
    migration_reviewer: false,
    // A session id is a uuid column; an act that makes the session has none yet.
    session_id: doer.session_id ?? (null as unknown as string),
    signed_in_at: ctx.now,
    mfa_at: null,
    capabilities: new Set(),
  },
  request_id: ctx.request_id,
  ip: ctx.ip,
  user_agent: ctx.user_agent,
  ...(ctx.step_up ? { step_up: ctx.step_up } : {}),
  now: ctx.now,
  warnings: [],
});

/** The person's living workspaces, ids only. */
export async function tenantIdsOf(tx: Tx, userId: string): Promise<string[]> {
  const rows = await tx.memberships.findMany({
    where: { user_id: userId, removed_at: null, tenant: { deleted_at: null } },
    select: { tenant_id: true },
  });
  return rows.map((r) => r.tenant_id);
}

/** Those that hear of what a session does to the person: all, or the one that a session can't reach beyond (`reachOf`). */
export const tenantIdsWithin = async (tx: Tx, userId: string, reach: string | null): Promise<string[]> =>
  reach === null ? tenantIdsOf(tx, userId) : [reach];
