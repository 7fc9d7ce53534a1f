import type { Ctx } from './context.ts';
import { inTransaction, type Tx } from './database.ts';
import { meet } from './expectation.ts';
import { newId } from './ids.ts';
import { sanitiseDetails } from './sanitise.ts';

/** What an audit row says beyond who, when and from where (interface rule 61 §2). */
export type AuditEntry = {
  action: string;
  resource_type: string;
  resource_id: string | null;
  /** Label of the resource at that time. */
  name?: string;
  changes?: { field: string; from?: unknown; to?: unknown; changed?: true }[];
  reason?: string;
  /** Further credential-free details. */
  details?: Record<string, unknown>;
  /** Workspace-level entries (members, billing, tenant) are stamped sandbox=false whatever the space. */
  workspace_level?: boolean;
};

declare const brand: unique symbol;
/** Only `audited` makes one: a mutation without its audit entry does not compile. */
export type Audited<T> = { readonly [brand]: true; value: T; entries: AuditEntry[] };
export const audited = <T>(value: T, ...entries: [AuditEntry, ...AuditEntry[]]): Audited<T> =>
  ({ value, entries }) as unknown as Audited<T>;
/** For a mutating call that turned out to change nothing (revoking twice): no entry is written. */
export const unchanged = <T>(value: T): Audited<T> => ({ value, entries: [] as AuditEntry[] }) as unknown as Audited<T>;

/**
 * A change of one workspace and space: the work and its audit entries commit together or not at all (interface rule 01 §13).
 * @throws whatever the work throws, conflict when the edited row is not as expected; a failed audit insert rolls the change back.
 */
export function mutate<T>(ctx: Ctx, work: (tx: Tx) => Promise<Audited<T>>): Promise<T> {
  return inTransaction(ctx, async (tx) => {
    await meet(tx, ctx);
    const { value, entries } = await work(tx);
    await writeAudits(tx, ctx, entries);
    return value;
  });
}

/** One row of the general store. Verbs use `mutate`; only planes whose work is not a verb (sign-in) call this themselves. */
export async function writeAudit(tx: Tx, ctx: Ctx, entry: AuditEntry): Promise<void> {
  await tx.audit_logs.create({ data: rowOf(ctx, entry), select: { id: true } });
}

const AT_ONCE = 500;

/** In their order. A change of a thousand things is a thousand entries, but not a thousand round trips. */
async function writeAudits(tx: Tx, ctx: Ctx, entries: readonly AuditEntry[]): Promise<void> {
  for (let at = 0; at < entries.length; at += AT_ONCE)
    await tx.audit_logs.createMany({ data: entries.slice(at, at + AT_ONCE).map((entry) => rowOf(ctx, entry)) });
}

function rowOf(ctx: Ctx, entry: AuditEntry) {
  const { actor } = ctx;
  return {
    id: newId(),
    tenant_id: ctx.tenant_id,
    sandbox: entry.workspace_level ? false : ctx.sandbox,
    action: entry.action,
    resource_type: entry.resource_type,
    resource_id: entry.resource_id,
    details: sanitiseDetails({
      ...entry.details,
      ...(entry.name === undefined ? {} : { name: entry.name }),
      ...(entry.changes === undefined ? {} : { changes: entry.changes }),
      ...(entry.reason === undefined ? {} : { reason: entry.reason }),
      sandbox: entry.workspace_level ? false : ctx.sandbox,
      actor: { type: ACTOR_TYPE[actor.type], id: actor.id, label: actor.label },
      request_id: ctx.request_id || null,
    }),
    ip_address: ctx.ip,
    actor_type: ACTOR_TYPE[actor.type],
    actor_id: actor.id,
    actor_label: actor.label,
    request_id: ctx.request_id || null,
    user_agent: ctx.user_agent?.slice(0, 256) ?? null,
    session_id: actor.type === 'member' ? actor.session_id : null,
    created_at: ctx.now,
  };
}

const ACTOR_TYPE = { member: 'user', api_key: 'api_key', system: 'system', operator: 'operator', anonymous: 'system' } as const;
