import { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { madeAt } from '#server/kernel/ids.ts';
import { containing, LOOKUP_LIMIT } from '#server/platform/lists/search.ts';
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
  const general = await found(tx, pattern);
  if (await mayReadDetails(tx, ctx)) return [general, told(Prisma.sql`details ->> 'name', resource_id, actor_id`)];
  return [Prisma.sql`${general} and ${told(Prisma.sql`resource_id, actor_label`)}`, told(Prisma.sql`resource_id, actor_id`)];
}

/** The entries a look-up finds, while they are few; else a condition on each entry, which fills a page soon because many match. */
async function found(tx: Tx, pattern: string): Promise<Prisma.Sql> {
  const [row] = await tx.$queryRaw<
    { seqs: bigint[] }[]
  >`select array(select matching_audit_entries(${pattern}, ${LOOKUP_LIMIT + 1})) as seqs`;
  if (row && row.seqs.length <= LOOKUP_LIMIT) return Prisma.sql`seq = any(${row.seqs})`;
  return Prisma.sql`audit_search_text(details, resource_id, actor_label) like lower(${pattern})`;
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
