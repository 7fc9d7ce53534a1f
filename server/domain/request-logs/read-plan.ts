import { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { BLOCK, OF_CALLERS, OF_ROUTES, QUARTER } from './rollups.ts';

// What a span of time is read from: six hours at once where it holds them whole, quarters of an hour beside those, and minutes at its ends, where nothing
// is added up yet, and where something was written late.

const MINUTE = 60_000;

/** In milliseconds of the epoch; the end is not part of it. */
type Span = { from: number; end: number };
/** No minute is in two of them, and every one is in one. */
export type Reading = { blocks: Span[]; quarters: Span[]; minutes: Span[] };

/** From the minute that `from` lies in to the minute that `to` lies in; a minute that begins at `to` does not count. */
export async function readingOf(tx: Tx, ctx: Ctx, from: Date, to: Date): Promise<Reading> {
  const [known] = await tx.$queryRaw<
    { until: Date; late: Date[] | null }[]
  >`select until, (select array_agg(distinct quarter) from late_quarters
      where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and quarter > ${new Date(from.getTime() - BLOCK)} and quarter < ${to}) as late
    from folded_quarters`;
  const first = Math.floor(from.getTime() / MINUTE) * MINUTE;
  const last = Math.ceil(to.getTime() / MINUTE) * MINUTE;
  const folded = Math.min(last, Math.max(first, known?.until.getTime() ?? 0));
  const late = (known?.late ?? []).map((quarter) => quarter.getTime());
  const blocks = carve([{ from: first, end: folded }], BLOCK, late);
  const quarters = carve(blocks.rest, QUARTER, late);
  return { blocks: blocks.whole, quarters: quarters.whole, minutes: [...quarters.rest, { from: folded, end: last }].filter(isSome) };
}

const isSome = ({ from, end }: Span) => from < end;

/** The cells of a size that lie whole in the spans and hold none of the points, neighbours as one, and what is left beside them. */
export function carve(spans: readonly Span[], size: number, points: readonly number[]): { whole: Span[]; rest: Span[] } {
  const spoilt = [...new Set(points.map((point) => Math.floor(point / size) * size))].sort((a, b) => a - b);
  const [whole, rest]: [Span[], Span[]] = [[], []];
  for (const { from, end } of spans) {
    const [begin, stop] = [Math.ceil(from / size) * size, Math.floor(end / size) * size];
    if (begin >= stop) {
      rest.push({ from, end });
      continue;
    }
    let at = begin;
    rest.push({ from, end: begin });
    for (const cell of spoilt.filter((cell) => cell >= begin && cell < stop)) {
      whole.push({ from: at, end: cell });
      rest.push({ from: cell, end: cell + size });
      at = cell + size;
    }
    whole.push({ from: at, end: stop });
    rest.push({ from: stop, end });
  }
  return { whole: whole.filter(isSome), rest: rest.filter(isSome) };
}

/** The same in parts of which none is longer than `ms`, for what is told by the hour or the minute. */
export function inPartsOf(ms: number, { blocks, quarters, minutes }: Reading): Reading {
  if (ms < QUARTER) return { blocks: [], quarters: [], minutes: [...minutes, ...quarters, ...blocks] };
  return ms < BLOCK ? { blocks: [], quarters: [...quarters, ...blocks], minutes } : { blocks, quarters, minutes };
}

/** Calls of a span, added up by routes or by callers: a table expression of `columns` and of `at`, when a part of them begins. */
export function callsOf(of: 'routes' | 'callers', reading: Reading, columns: Prisma.Sql, where: Prisma.Sql): Prisma.Sql {
  const rollup = of === 'routes' ? OF_ROUTES : OF_CALLERS;
  const parts = [
    [rollup.blocks, 'block', reading.blocks],
    [rollup.quarters, 'quarter', reading.quarters],
    [rollup.minutes, 'minute', reading.minutes],
  ] as const;
  const some = parts.filter(([, column, spans]) => spans.length > 0 || column === 'minute');
  const times = (spans: readonly Span[], end: keyof Span) => spans.map((span) => new Date(span[end]).toISOString());
  return Prisma.sql`(${Prisma.join(
    some.map(([table, name, spans]) => {
      const at = Prisma.raw(name);
      return Prisma.sql`select r.* from unnest(${times(spans, 'from')}::timestamptz[], ${times(spans, 'end')}::timestamptz[]) as span(begins, ends)
        cross join lateral (select ${at} as at, ${columns} from ${Prisma.raw(table)} where ${where} and ${at} >= span.begins and ${at} < span.ends) r`;
    }),
    ' union all ',
  )})`;
}
