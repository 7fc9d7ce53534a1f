import type { z } from 'zod';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';
import { type LogDays, type LogDaysQuery, NO_ROUTE } from './schema.ts';

const DAY = 24 * 3_600_000;
/** Days are kept that long (interface rule 70 §6). */
export const KEPT_DAYS = 400;
/** What a split shows; the rest of a space with thousands of routes is in the sum of the days. */
const MOST = 100;

type Figures = { calls: number; errors: number; counted: number };

/** Calls of the space by day and by what took part in them, from one query over the days (interface rules 20 §2, 70 §6). */
export function logDays(ctx: Ctx, query: z.output<typeof LogDaysQuery>): Promise<z.input<typeof LogDays>> {
  const to = query.to ?? isoDay(ctx.now);
  const from = query.from ?? `${to.slice(0, 7)}-01`;
  const range = Date.parse(to) - Date.parse(from);
  if (range < 0 || range >= KEPT_DAYS * DAY) throw invalid('from', `must not lie after to, nor ${KEPT_DAYS} days before it`);
  return read(ctx, async (tx) => {
    const rows = await tx.$queryRaw<({ kind: string; ref: string | null; day: string | null; row: number } & Figures)[]>`
      select * from (
        select kind, ref_id::text as ref, day::text as day, sum(calls)::float8 as calls, sum(errors)::float8 as errors, sum(counted)::float8 as counted,
          row_number() over (partition by kind, grouping(day) order by sum(calls) desc, ref_id)::int as row
        from call_days
        where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and kind in ('route', 'api_key', 'environment') and day between ${from}::date and ${to}::date
        group by kind, grouping sets ((day), (ref_id))) g
      where (day is not null and kind = 'route') or (ref is not null and row <= ${MOST})`;
    const shares = (kind: string, names: ReadonlyMap<string, string>) =>
      rows
        .filter((row) => row.kind === kind && row.ref !== null)
        .sort((a, b) => a.row - b.row)
        .map((row) => ({ id: row.ref === NO_ROUTE ? null : row.ref, name: names.get(row.ref ?? '') ?? null, ...figures(row) }));
    const ids = (kind: string) => ({
      where: { ...own(ctx), id: { in: rows.flatMap((row) => (row.kind === kind && row.ref ? [row.ref] : [])) } },
      select: { id: true, name: true },
    });
    return {
      from,
      to,
      days: everyDay(
        from,
        to,
        rows.filter((row) => row.day !== null),
      ),
      routes: shares('route', named(await tx.routes.findMany(ids('route')))),
      api_keys: shares('api_key', named(await tx.api_keys.findMany(ids('api_key')))),
      environments: shares('environment', named(await tx.environments.findMany(ids('environment')))),
    };
  });
}

const isoDay = (at: Date) => at.toISOString().slice(0, 10);
const figures = ({ calls, errors, counted }: Figures): Figures => ({ calls, errors, counted });
const named = (rows: readonly { id: string; name: string }[]) => new Map(rows.map(({ id, name }) => [id, name]));

/** A day without a call is a fact too. */
function everyDay(from: string, to: string, known: readonly ({ day: string | null } & Figures)[]) {
  const byDay = new Map(known.map((row) => [row.day, figures(row)]));
  const days = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += DAY) {
    const day = isoDay(new Date(at));
    days.push({ day, ...(byDay.get(day) ?? { calls: 0, errors: 0, counted: 0 }) });
  }
  return days;
}
