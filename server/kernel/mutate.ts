import { type AuditEntry, auditDetails } from './audit-entry.ts';
import { auditActor, type Ctx } from './context.ts';
import { inTransaction, type Tx } from './database.ts';
import { newId } from './ids.ts';
import { assertUnmodified } from './precondition.ts';
import { takeStepUp } from './step-up.ts';

export type { AuditEntry } from './audit-entry.ts';

declare const brand: unique symbol;
/** Only `audited` makes one: a mutation without its audit entry does not compile. */
export type Audited<T> = { readonly [brand]: true; value: T; entries: AuditEntry[] };
/** Further entries may come as lists, of any length: no function takes a hundred thousand arguments. */
export const audited = <T>(value: T, first: AuditEntry, ...more: (AuditEntry | readonly AuditEntry[])[]): Audited<T> =>
  ({ value, entries: [first, ...more].flat() }) as unknown as Audited<T>;
/** For a mutating call that turned out to change nothing (revoking twice): no entry is written. */
export const unchanged = <T>(value: T): Audited<T> => ({ value, entries: [] as AuditEntry[] }) as unknown as Audited<T>;

/**
 * A change of one workspace and space: the work and its audit entries commit together or not at all (interface rule 01 §13).
 * @throws whatever the work throws, step_up_required when the person must confirm first, conflict when the edited row is not as expected; a failed audit insert rolls the change back.
 */
export function mutate<T>(ctx: Ctx, work: (tx: Tx) => Promise<Audited<T>>): Promise<T> {
  return inTransaction(ctx, async (tx) => {
    await takeStepUp(tx, ctx);
    await assertUnmodified(tx, ctx);
    const { value, entries } = await work(tx);
    await writeAudits(tx, ctx, entries);
    return value;
  });
}

/** One row of the general store. Verbs use `mutate`; only planes whose work is not a verb (sign-in) call this themselves. */
export const writeAudit = (tx: Tx, ctx: Ctx, entry: AuditEntry): Promise<void> => writeAudits(tx, ctx, [entry]);

const AT_ONCE = 5_000;

/** In their order. A change of a hundred thousand things is as many entries, but neither as many round trips nor one message without bound. */
export async function writeAudits(tx: Tx, ctx: Ctx, entries: readonly AuditEntry[]): Promise<void> {
  for (let at = 0; at < entries.length; at += AT_ONCE) await insert(tx, ctx, entries.slice(at, at + AT_ONCE));
}

/** What differs between the entries goes as lists: a row of parameters each would cost more than the rows themselves. */
const insert = (tx: Tx, ctx: Ctx, entries: readonly AuditEntry[]) => {
  const actor = auditActor(ctx.actor);
  const inSandbox = (entry: AuditEntry) => !entry.workspace_level && ctx.sandbox;
  return tx.$executeRaw`
    insert into audit_logs (id, sandbox, action, resource_type, resource_id, details,
      tenant_id, ip_address, actor_type, actor_id, actor_label, request_id, user_agent, session_id, created_at)
    select id, sandbox, action, resource_type, resource_id, details::jsonb,
      ${ctx.tenant_id}::uuid, ${ctx.ip}, ${actor.type}, ${actor.id}, ${actor.label}, ${ctx.request_id || null},
      ${ctx.user_agent?.slice(0, 256) ?? null}, ${ctx.actor.type === 'member' ? ctx.actor.session_id : null}, ${ctx.now}::timestamptz
    from unnest(${entries.map(() => newId())}::uuid[], ${entries.map(inSandbox)}::boolean[], ${entries.map((e) => e.action)}::text[],
      ${entries.map((e) => e.resource_type)}::text[], ${entries.map((e) => e.resource_id)}::text[],
      ${entries.map((e) => JSON.stringify(auditDetails(ctx, e, inSandbox(e))))}::text[])
      with ordinality as e(id, sandbox, action, resource_type, resource_id, details, nth) order by nth`;
};
