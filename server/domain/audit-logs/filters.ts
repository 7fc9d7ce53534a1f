import { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { madeAt } from '#server/kernel/ids.ts';
import { recall, recallEntries, remember, rememberEntries } from '#server/platform/lists/known-totals.ts';
import { containing, FEW } from '#server/platform/lists/list.ts';
import { mayReadDetails } from './may-read-details.ts';

// What entries are narrowed by, as the rows of each store that pass.

export type AuditFilters = {
  action?: string | undefined;
  action_prefix?: string | undefined;
  resource_type?: string | undefined;
  resource_id?: string | undefined;
  actor_id?: string | undefined;
  from?: string | undefined;
  /** Ends of a time that are not part of it. */
  until?: string | undefined;
  since?: string | undefined;
  to?: string | undefined;
  ip?: string | undefined;
  q?: string | undefined;
  store?: 'general' | 'critical' | undefined;
  request_id?: string | undefined;
};

/** The rows of the space in each store the filters ask for. Both filter on an equal tenant and space first, which every index begins with. */
export async function branches(tx: Tx, ctx: Ctx, { q, ...filters }: AuditFilters): Promise<Prisma.Sql[]> {
  const [inGeneral, inCritical] = q === undefined ? [Prisma.sql`true`, Prisma.sql`true`] : await searched(tx, ctx, q);
  const general = Prisma.sql`select seq, created_at as at, 'general' as store, action, resource_type, actor_id, actor_label from audit_logs
    where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and ${matching(filters, Prisma.sql`created_at`)} and ${inGeneral}`;
  const critical = Prisma.sql`select seq, at, 'critical' as store, action, resource_type, actor_id, null::text as actor_label from audit_log_critical
    where tenant_id = ${ctx.tenant_id}::uuid and coalesce((details ->> 'sandbox')::boolean, false) = ${ctx.sandbox} and ${matching(filters, Prisma.sql`at`)} and ${inCritical}`;
  if (filters.store) return [filters.store === 'general' ? general : critical];
  return [general, critical];
}

/** In each store. A name is a detail: who may not read details must not find out by searching for parts of it either. */
async function searched(tx: Tx, ctx: Ctx, q: string): Promise<[Prisma.Sql, Prisma.Sql]> {
  const pattern = containing(q);
  const told = (words: Prisma.Sql) => Prisma.sql`lower(concat_ws(E'\n', ${words})) like lower(${pattern})`;
  const general = await found(tx, ctx, q);
  if (await mayReadDetails(tx, ctx)) return [general, told(Prisma.sql`details ->> 'name', resource_id, actor_id`)];
  return [Prisma.sql`${general} and ${told(Prisma.sql`resource_id, actor_label`)}`, told(Prisma.sql`resource_id, actor_id`)];
}

/**
 * By what a look-up found while that is little, else entry by entry until the page is full. Both answer alike: that a look-up found too much is kept
 * in mind for a while only to spare the next page another one. What it found is, until the store has another entry or one less.
 */
async function found(tx: Tx, ctx: Ctx, q: string): Promise<Prisma.Sql> {
  const pattern = containing(q);
  const each = Prisma.sql`audit_search_text(details, resource_id, actor_label) like lower(${pattern})`;
  const key = JSON.stringify(['timeline', ctx.tenant_id, ctx.sandbox, q]);
  if (recall(key)) return each;
  // Asked before anything is looked up; what a transaction of a change sees of its own may be undone.
  const [state] = ctx.tx
    ? []
    : await tx.$queryRaw<{ version: bigint }[]>`select version from row_counts where tenant_id = ${ctx.tenant_id}::uuid
        and sandbox = ${ctx.sandbox} and kind = 'audit_logs'`;
  const known = recallEntries(key);
  if (known && known.version === state?.version) return Prisma.sql`seq = any(${[...known.seqs]})`;
  const [few] = await tx.$queryRaw<{ seqs: bigint[] }[]>`select array(select matching_audit_entries(${pattern}, ${FEW + 1})) as seqs`;
  if (few && few.seqs.length <= FEW) {
    if (state) rememberEntries(key, state.version, few.seqs);
    return Prisma.sql`seq = any(${few.seqs})`;
  }
  remember(key, 0n, FEW);
  return each;
}

function matching(f: Omit<AuditFilters, 'q' | 'store'>, at: Prisma.Sql): Prisma.Sql {
  const conditions = [
    f.action === undefined ? null : Prisma.sql`action = ${f.action}`,
    f.action_prefix === undefined ? null : Prisma.sql`starts_with(action, ${f.action_prefix})`,
    f.resource_type === undefined ? null : Prisma.sql`resource_type = ${f.resource_type}`,
    f.resource_id === undefined ? null : Prisma.sql`resource_id = ${f.resource_id}`,
    f.actor_id === undefined ? null : f.actor_id === 'system' ? Prisma.sql`actor_id is null` : Prisma.sql`actor_id = ${f.actor_id}`,
    f.from === undefined ? null : Prisma.sql`${at} >= ${new Date(f.from)}`,
    f.to === undefined ? null : Prisma.sql`${at} <= ${new Date(f.to)}`,
    f.until === undefined ? null : Prisma.sql`${at} < ${new Date(f.until)}`,
    f.since === undefined ? null : Prisma.sql`${at} > ${new Date(f.since)}`,
    f.ip === undefined ? null : Prisma.sql`ip_address = ${f.ip}`,
    f.request_id === undefined ? null : ofRequest(f.request_id, at),
  ].filter((c) => c !== null);
  return conditions.length === 0 ? Prisma.sql`true` : Prisma.join(conditions, ' and ');
}

/** Ids of requests carry the time they were made: entries are looked for around it, in the index, and not from the beginning. */
function ofRequest(id: string, at: Prisma.Sql): Prisma.Sql {
  const made = madeAt(id);
  const same = Prisma.sql`request_id = ${id}`;
  return made
    ? Prisma.sql`${same} and ${at} between ${new Date(made.getTime() - HOUR_MS)} and ${new Date(made.getTime() + HOUR_MS)}`
    : same;
}
const HOUR_MS = 3_600_000;
