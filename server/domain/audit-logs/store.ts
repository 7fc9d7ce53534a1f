import { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { type AuditFilters, branches } from './filters.ts';

/** Where an entry stands in the merged order; the two stores draw `seq` from one sequence. */
export type AuditKey = { seq: bigint; at: Date; store: 'general' | 'critical'; settled: boolean };

type Place = {
  order: 'newest' | 'oldest' | 'feed';
  limit: number;
  offset?: number;
  /** newest: entries older than this one */
  before?: Pick<AuditKey, 'at' | 'seq'> | undefined;
  /** feed: entries after this one */
  after?: bigint | undefined;
  /** feed: younger entries are not settled */
  watermark?: Date;
};

/**
 * Keys of both stores in one order. Each store gives at most offset + limit of its own from an index, so a page never reads more than it skips,
 * and the wide rows are fetched for the page alone. `settled`: nothing with a smaller seq can still be committed, and it is older than the watermark.
 */
export async function keysOf(tx: Tx, ctx: Ctx, filters: AuditFilters, place: Place): Promise<AuditKey[]> {
  const { limit, offset = 0 } = place;
  const order = ORDERS[place.order];
  const settled =
    place.order === 'feed' ? Prisma.sql`seq <= ${await horizon(tx)} and at <= ${place.watermark ?? ctx.now}` : Prisma.sql`true`;
  const columns = Prisma.sql`seq, at, store, ${settled} as settled`;
  const parts = (await branches(tx, ctx, filters)).map(
    (rows) => Prisma.sql`(select ${columns} from (${rows}) r where ${placeCondition(place)} order by ${order} limit ${offset + limit})`,
  );
  return tx.$queryRaw<AuditKey[]>`select * from (${Prisma.join(parts, ' union all ')}) k order by ${order} offset ${offset} limit ${limit}`;
}

const ORDERS = { newest: Prisma.sql`at desc, seq desc`, oldest: Prisma.sql`at, seq`, feed: Prisma.sql`seq` };

/** The highest number below which no open transaction can bring an entry. Asked first; the rows are read in a later statement. */
async function horizon(tx: Tx): Promise<bigint> {
  const [row] = await tx.$queryRaw<{ seq: bigint }[]>`select feed_horizon('audit_logs') as seq`;
  return row?.seq ?? 0n;
}

function placeCondition({ before, after }: Place): Prisma.Sql {
  if (before) return Prisma.sql`(at, seq) < (${before.at}, ${before.seq})`;
  return after === undefined ? Prisma.sql`true` : Prisma.sql`seq > ${after}`;
}

type Facet = { kind: 'action' | 'resource_type' | 'actor'; value: string; label: string | null; count: number };

/** The most frequent actions, types and actors among the newest `of` entries that pass. */
export async function facetsOf(tx: Tx, ctx: Ctx, filters: AuditFilters, of: number): Promise<Facet[]> {
  const parts = (await branches(tx, ctx, filters)).map(
    (rows) => Prisma.sql`(select action, resource_type, actor_id, actor_label, at from (${rows}) r order by at desc limit ${of})`,
  );
  return tx.$queryRaw<Facet[]>`
    with alike as materialized (
      select action, resource_type, actor_id, max(actor_label) as label, count(*) as n
      from (select * from (${Prisma.join(parts, ' union all ')}) u order by at desc limit ${of}) newest group by action, resource_type, actor_id),
    counted as (
      select 'action' as kind, action as value, null::text as label, sum(n) as n from alike group by action
      union all select 'resource_type', resource_type, null, sum(n) from alike group by resource_type
      union all select 'actor', coalesce(actor_id, 'system'), max(label), sum(n) from alike group by actor_id
    )
    select kind, value, label, n::int as count from (select *, row_number() over (partition by kind order by n desc, value) as place from counted) c
    where place <= 50 order by kind, n desc, value`;
}
