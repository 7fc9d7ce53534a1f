import type { z } from 'zod';
import { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import type { LogTraffic, LogTrafficQuery } from './figures.schema.ts';
import { callsOf, readingOf } from './read-plan.ts';
import { spanStart } from './span.shared.ts';

const DAY = 24 * 3_600_000;

type Figures = z.input<typeof LogTraffic>['traffic'][number];

/** Use of a page of things of one kind in two indexed queries: the last 24 hours from the rollups, the last 30 days by the day (UTC). */
export function logTraffic(ctx: Ctx, { kind, ids }: z.output<typeof LogTrafficQuery>): Promise<z.input<typeof LogTraffic>> {
  return read(ctx, async (tx) => {
    const month = new Date(ctx.now.getTime() - 29 * DAY).toISOString().slice(0, 10);
    const days = await tx.$queryRaw<Omit<Figures, 'calls_24h' | 'errors_24h'>[]>`
      select ref_id::text as id, coalesce(sum(calls) filter (where day >= ${month}::date), 0)::float8 as calls_30d,
        coalesce(sum(errors) filter (where day >= ${month}::date), 0)::float8 as errors_30d, max(last_at) as last_at
      from call_days where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and kind = ${kind} and ref_id = any(${ids}::uuid[]) group by 1`;
    const recent = await lastDay(tx, ctx, kind, ids);
    return {
      traffic: days.map((row) => ({
        ...row,
        calls_24h: recent ? (recent.get(row.id)?.calls ?? 0) : null,
        errors_24h: recent ? (recent.get(row.id)?.errors ?? 0) : null,
      })),
    };
  });
}

/** Undefined for secrets: no rollup knows them. */
async function lastDay(tx: Tx, ctx: Ctx, kind: z.output<typeof LogTrafficQuery>['kind'], ids: readonly string[]) {
  if (kind === 'secret') return undefined;
  const reading = await readingOf(tx, ctx, spanStart(ctx.now.getTime(), DAY), ctx.now);
  const own = Prisma.sql`tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox}`;
  const asked = Prisma.sql`any(${ids}::uuid[])`;
  const ofCallers = () =>
    Prisma.sql`caller_id as id, count, errors from ${callsOf('callers', reading, Prisma.sql`caller_id, count, errors`, Prisma.sql`${own} and caller_id = ${asked}`)} c`;
  const source = {
    api_key: ofCallers,
    client: ofCallers,
    route: () =>
      Prisma.sql`route_id as id, count, errors from ${callsOf('routes', reading, Prisma.sql`route_id, count, errors`, Prisma.sql`${own} and route_id = ${asked}`)} c`,
    environment: () => Prisma.sql`e.id, c.count, c.errors from ${callsOf('routes', reading, Prisma.sql`environment, count, errors`, own)} c
      join environments e on e.name = c.environment where e.tenant_id = ${ctx.tenant_id}::uuid and e.sandbox = ${ctx.sandbox} and e.id = ${asked}`,
  }[kind];
  const rows = await tx.$queryRaw<{ id: string; calls: number; errors: number }[]>`
    select id::text, sum(count)::float8 as calls, sum(errors)::float8 as errors from (select ${source()}) r group by 1`;
  return new Map(rows.map((row) => [row.id, row]));
}
