import type { z } from 'zod';
import { DEGRADED_FROM, DOWN_ABOVE, type Health } from '#server/domain/clients/health.shared.ts';
import { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { keptAnswer } from '../analytics/kept-answers.ts';
import { LATENCY_BUCKETS, percentile } from '../buckets.ts';
import { callsOf, readingOf } from '../read-plan.ts';
import { spanStart } from '../span.shared.ts';
import type { ClientHealth, ClientHealthQuery } from './schema.ts';

const DAY = 24 * 3_600_000;
const MOST_CLIENTS = 200;

type Answer = z.input<typeof ClientHealth>;
type Row = Omit<Answer['clients'][number], 'latency_avg' | 'latency_p95'> & {
  latency: number[] | null;
  longest: number | null;
  sum: number;
};

/** How the calls of each client went in the last 24 hours, the worst first. From calls alone: nobody's address is ever probed (interface rule 70 §6). */
export function reportClientHealth(ctx: Ctx, asked: z.output<typeof ClientHealthQuery>): Promise<Answer> {
  return keptAnswer(ctx, [], { client_health: asked }, () => report(ctx, asked));
}

/** Bucket by bucket: a third of the time that taking the arrays apart takes. */
const HISTOGRAM = Prisma.raw(
  `array[${Array.from({ length: LATENCY_BUCKETS }, (_, i) => `coalesce(sum(c.latency[${i + 1}]), 0)`).join(', ')}]::float8[]`,
);

function report(ctx: Ctx, { state }: z.output<typeof ClientHealthQuery>): Promise<Answer> {
  return read(ctx, async (tx) => {
    const reading = await readingOf(tx, ctx, spanStart(ctx.now.getTime(), DAY), ctx.now);
    const own = Prisma.sql`tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox}`;
    const clients = Prisma.sql`(select id from clients where ${own})`;
    const columns = Prisma.sql`caller_id, count, errors, latency, latency_max, latency_sum`;
    const known = Prisma.sql`with calls as materialized (select c.caller_id, sum(c.count)::float8 as calls_24h, sum(c.errors)::float8 as errors_24h,
        ${HISTOGRAM} as latency, max(c.latency_max) as longest, sum(c.latency_sum)::float8 as sum
        from ${callsOf('callers', reading, columns, Prisma.sql`${own} and caller_id in ${clients}`)} c group by 1),
      told as (select k.id::text, k.name, k.type, k.enabled, coalesce(calls_24h, 0) as calls_24h, coalesce(errors_24h, 0) as errors_24h, latency, longest, coalesce(sum, 0) as sum,
        case when coalesce(calls_24h, 0) = 0 then 'idle' when errors_24h * 100 < calls_24h * ${DEGRADED_FROM}::float8 then 'healthy'
          when errors_24h * 100 <= calls_24h * ${DOWN_ABOVE}::float8 then 'degraded' else 'down' end as state
        from clients k left join calls on calls.caller_id = k.id where k.tenant_id = ${ctx.tenant_id}::uuid and k.sandbox = ${ctx.sandbox})`;
    const counts = await tx.$queryRaw<{ state: Health; n: number }[]>`${known} select state, count(*)::int as n from told group by 1`;
    const rows = await tx.$queryRaw<Row[]>`${known}
      select t.*, (select max(last_at) from call_days d where d.tenant_id = ${ctx.tenant_id}::uuid and d.sandbox = ${ctx.sandbox} and d.kind = 'client' and d.ref_id = t.id::uuid) as last_seen_at,
        (select min(expires_at) from client_credentials e where e.client_id = t.id::uuid and e.tenant_id = ${ctx.tenant_id}::uuid and e.enabled) as credential_expires_at
      from (select * from told where ${state ?? null}::text is null or state = ${state ?? null}
        order by array_position(array['down', 'degraded', 'healthy', 'idle'], state), errors_24h desc, calls_24h desc, name, id limit ${MOST_CLIENTS}) t`;
    return {
      counts: { down: 0, degraded: 0, healthy: 0, idle: 0, ...Object.fromEntries(counts.map(({ state: of, n }) => [of, n])) },
      clients: rows.map(({ latency, longest, sum, ...row }) => {
        const measured = (latency ?? []).reduce((all, n) => all + n, 0);
        return {
          ...row,
          latency_avg: measured > 0 ? sum / measured : null,
          latency_p95: percentile(latency ?? [], 0.95, longest ?? undefined),
        };
      }),
    };
  });
}
