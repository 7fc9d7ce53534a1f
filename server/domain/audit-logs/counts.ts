import { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { PROBE_LIMITS } from '#server/platform/lists/list.ts';
import { type AuditFilters, branches } from './filters.ts';

// How many entries there are, without reading them where that can be helped.

/** How many entries pass the filters. */
export async function countMatching(tx: Tx, ctx: Ctx, filters: AuditFilters): Promise<number> {
  const parts = (await branches(tx, ctx, filters)).map((rows) => Prisma.sql`select count(*) as n from (${rows}) r`);
  const [row] = await tx.$queryRaw<{ n: number }[]>`select sum(n)::float8 as n from (${Prisma.join(parts, ' union all ')}) c`;
  return row?.n ?? 0;
}

/** How many entries of a time range: counts the smaller side, the entries inside or all less those outside. */
export async function countInTime(tx: Tx, ctx: Ctx, { from, to, store }: Pick<AuditFilters, 'from' | 'to' | 'store'>): Promise<number> {
  const sum = (parts: readonly Prisma.Sql[], most: Prisma.Sql) =>
    Prisma.sql`(${Prisma.join([Prisma.sql`0`, ...parts.map((rows) => Prisma.sql`(select count(*) from (${rows} ${most}) r)`)], ' + ')})::float8`;
  const inside = await branches(tx, ctx, { from, to, store });
  const outside = [
    ...(from === undefined ? [] : await branches(tx, ctx, { until: from, store })),
    ...(to === undefined ? [] : await branches(tx, ctx, { since: to, store })),
  ];
  const kinds = store ? [KINDS[store]] : Object.values(KINDS);
  const all = Prisma.sql`(select coalesce(sum(n), 0) from row_counts where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox}
    and kind = any(${kinds}))::float8`;
  for (const most of PROBE_LIMITS) {
    const up = Prisma.sql`limit ${most}`;
    const [row] = await tx.$queryRaw<
      { inside: number; outside: number; all: number }[]
    >`select ${sum(inside, up)} as inside, ${sum(outside, up)} as outside, ${all} as all`;
    if (row && row.inside < most) return row.inside;
    if (row && row.outside < most) return row.all - row.outside;
  }
  const [row] = await tx.$queryRaw<{ n: number }[]>`select ${all} - ${sum(outside, Prisma.empty)} as n`;
  return row?.n ?? 0;
}

const KINDS = { general: 'audit_logs', critical: 'audit_log_critical' } as const;
