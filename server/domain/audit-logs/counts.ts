import { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { recall, remember } from '#server/platform/lists/known-totals.ts';
import { GLANCES } from '#server/platform/lists/list.ts';
import { type AuditFilters, branches } from './filters.ts';

// How many entries there are, without reading them where that can be helped.

/** How many entries pass the filters: counted, or as they were counted when neither store had another entry or one less. */
export async function countMatching(tx: Tx, ctx: Ctx, filters: AuditFilters): Promise<number> {
  const key = JSON.stringify([
    'audit',
    ctx.tenant_id,
    ctx.sandbox,
    Object.entries(filters)
      .filter(([, value]) => value !== undefined)
      .sort(),
  ]);
  // Asked before anything is counted. The chain only ever grows, so its length is its version.
  const [state] = await tx.$queryRaw<
    { version: bigint; chain: bigint }[]
  >`select coalesce(max(version) filter (where kind = ${KINDS.general}), 0) as version,
    coalesce(max(n) filter (where kind = ${KINDS.critical}), 0) as chain from row_counts where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox}`;
  // What a transaction of a change sees of its own may be undone, and the chain be as long again with another entry.
  const version = state && !ctx.tx ? (state.version << 64n) + state.chain : undefined;
  const known = recall(key);
  if (known && known.version === version) return known.total;
  const parts = (await branches(tx, ctx, filters)).map((rows) => Prisma.sql`select count(*) as n from (${rows}) r`);
  const [row] = await tx.$queryRaw<{ n: number }[]>`select sum(n)::float8 as n from (${Prisma.join(parts, ' union all ')}) c`;
  const total = row?.n ?? 0;
  if (version !== undefined) remember(key, version, total);
  return total;
}

/** How many entries of a stretch of time: counted, or all less those outside, whichever turns out to be few. */
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
  for (const most of GLANCES) {
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
