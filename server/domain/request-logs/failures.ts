import type { z } from 'zod';
import { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';
import type { LogFailures, LogFailuresQuery } from './figures.schema.ts';
import { OUTCOME, REAL } from './filters.ts';
import { tellOfPast } from './history/past.ts';
import { spanStart } from './span.shared.ts';

const DAY = 24 * 3_600_000;
/** Failures looked at, newest first: beyond them a group's count is "more than". */
const COUNTED = 10_000;
const GROUPS = 20;
/** The calls the overhead is taken from. */
const SAMPLE = 1_000;

type Group = {
  route_id: string | null;
  status_code: number | null;
  error: string | null;
  outcome: string;
  count: number;
  first_at: Date;
  last_at: Date;
};

/** Failed calls grouped by route, status and reason, the newest kind marked, with how many we refused and what passing us costs (interface rule 70 §4.1). */
export async function logFailures(ctx: Ctx, query: z.output<typeof LogFailuresQuery>): Promise<z.input<typeof LogFailures>> {
  const to = query.to ? new Date(query.to) : ctx.now;
  const from = query.from ? new Date(query.from) : spanStart(to.getTime(), DAY);
  const range = to.getTime() - from.getTime();
  if (range <= 0 || range > 31 * DAY) throw invalid('from', 'must be before to, by at most 31 days');
  await tellOfPast(ctx, from, 'Failures');
  return read(ctx, async (tx) => {
    const groups = await grouped(tx, ctx, from, to);
    const before = new Set((await grouped(tx, ctx, new Date(from.getTime() - range), from)).map(kindOf));
    const shown = groups.slice(0, GROUPS);
    const routes = await tx.routes.findMany({
      where: { ...own(ctx), id: { in: shown.flatMap((group) => group.route_id ?? []) } },
      select: { id: true, name: true },
    });
    const failed = groups.reduce((sum, group) => sum + group.count, 0);
    const blocked = groups.reduce((sum, group) => sum + (group.outcome === 'refused' ? group.count : 0), 0);
    return {
      groups: shown.map((group) => ({
        ...group,
        route_name: routes.find((route) => route.id === group.route_id)?.name ?? null,
        is_new: !before.has(kindOf(group)),
      })),
      blocked,
      is_capped: failed >= COUNTED,
      overhead_ms: await overhead(tx, ctx, from, to),
    };
  });
}

const kindOf = ({ route_id, status_code, error }: Pick<Group, 'route_id' | 'status_code' | 'error'>) =>
  `${route_id} ${status_code} ${error}`;

/** Both halves walk an index of failures, never the log. */
const grouped = (tx: Tx, ctx: Ctx, from: Date, to: Date) => {
  const half = (kind: Prisma.Sql) => Prisma.sql`(select route_id::text, status_code, error, ${OUTCOME} as outcome, ts from request_logs
    where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and ts >= ${from} and ts < ${to} and ${kind} and ${REAL} order by ts desc limit ${COUNTED})`;
  return tx.$queryRaw<Group[]>`
    select route_id, status_code, error, outcome, count(*)::int as count, min(ts) as first_at, max(ts) as last_at
    from (${half(Prisma.sql`error is not null`)} union all ${half(Prisma.sql`error is null and status_code >= 500`)}) f
    group by 1, 2, 3, 4 order by count desc, last_at desc`;
};

/** What passing us added, in milliseconds, among the newest thousand calls that reached an upstream; null when none did. */
async function overhead(tx: Tx, ctx: Ctx, from: Date, to: Date): Promise<{ p50: number | null; p95: number | null }> {
  const [row] = await tx.$queryRaw<{ p50: number | null; p95: number | null }[]>`
    select percentile_disc(0.5) within group (order by ms) as p50, percentile_disc(0.95) within group (order by ms) as p95
    from (select greatest(0, latency_ms - upstream_ms) as ms from (select latency_ms, upstream_ms from request_logs
      where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and ts >= ${from} and ts < ${to} and ${REAL} order by ts desc, id desc limit ${SAMPLE}) r
      where latency_ms is not null and upstream_ms is not null) o`;
  return { p50: row?.p50 ?? null, p95: row?.p95 ?? null };
}
