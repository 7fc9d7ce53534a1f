import type { z } from 'zod';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';
import { NO_ROUTE } from './buckets.ts';
import type { LogDays, LogDaysQuery } from './figures.schema.ts';
import { SPLITS } from './span.shared.ts';

const DAY = 24 * 3_600_000;
/** Days are kept that long (interface rule 70 §6). */
export const KEPT_DAYS = 400;
/** What a split shows; the rest of a space with thousands of routes is in the sum of the days. */
const MOST = 100;
/** What a chart can tell apart. */
const LARGEST = 5;

export type Split = (typeof SPLITS)[number];
export type Figures = { calls: number; errors: number; counted: number };
type Row = { kind: Split; ref: string | null; day: string | null; row: number } & Figures;

/** Calls of the space by day and by what took part in them, from one query over the days (interface rules 20 §2, 70 §6). */
export function logDays(ctx: Ctx, query: z.output<typeof LogDaysQuery>): Promise<z.input<typeof LogDays>> {
  const { from, to } = daysOf(ctx, query);
  return read(ctx, async (tx) => {
    const rows = await tx.$queryRaw<Row[]>`
      select * from (
        select kind, ref_id::text as ref, day::text as day, sum(calls)::float8 as calls, sum(errors)::float8 as errors, sum(counted)::float8 as counted,
          row_number() over (partition by kind, grouping(day) order by sum(counted) desc, sum(calls) desc, ref_id)::int as row
        from call_days
        where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and kind = any(${SPLITS}) and day between ${from}::date and ${to}::date
        group by kind, grouping sets ((day), (ref_id)) having sum(calls) > 0) g
      where (day is not null and kind = 'route') or (ref is not null and row <= ${MOST})`;
    const days = everyDay(
      from,
      to,
      rows.filter((row) => row.day !== null),
    );
    const shares = async (kind: Split) => {
      const own = rows.filter((row) => row.kind === kind && row.ref !== null).sort((a, b) => a.row - b.row);
      const names = await namesOf(tx, ctx, kind, own.map(refOf));
      return own.map((row) => ({ id: idOf(refOf(row)), name: names.get(refOf(row)) ?? null, ...figures(row) }));
    };
    const split = {
      route: await shares('route'),
      client: await shares('client'),
      api_key: await shares('api_key'),
      environment: await shares('environment'),
    };
    return {
      from,
      to,
      days,
      routes: split.route,
      clients: split.client,
      api_keys: split.api_key,
      environments: split.environment,
      series: query.by ? await series(tx, ctx, query.by, split[query.by].slice(0, LARGEST), days) : [],
    };
  });
}

/** The days asked for. @throws Refusal validation_error when they run backwards or beyond what is kept */
export function daysOf(ctx: Ctx, query: { from?: string | undefined; to?: string | undefined }): { from: string; to: string } {
  const to = query.to ?? isoDay(ctx.now);
  const from = query.from ?? `${to.slice(0, 7)}-01`;
  const range = Date.parse(to) - Date.parse(from);
  if (range < 0 || range >= KEPT_DAYS * DAY) throw invalid('from', `must not be after to, or more than ${KEPT_DAYS - 1} days before it`);
  return { from, to };
}

/** What things of a kind are called today; one that is gone has no name, nor have keys for those who may not list keys. */
export async function namesOf(tx: Tx, ctx: Ctx, kind: Split, ids: readonly string[]): Promise<Map<string, string>> {
  if (kind === 'api_key' && !ctx.actor.capabilities.has('api_key:list')) return new Map();
  const asked = { where: { ...own(ctx), id: { in: [...ids] } }, select: { id: true, name: true } };
  const rows = await {
    route: () => tx.routes.findMany(asked),
    client: () => tx.clients.findMany(asked),
    api_key: () => tx.api_keys.findMany(asked),
    environment: () => tx.environments.findMany(asked),
  }[kind]();
  return new Map(rows.map(({ id, name }) => [id, name]));
}

type Share = { id: string | null; name: string | null };
type Day = { day: string } & Figures;

async function series(tx: Tx, ctx: Ctx, kind: Split, shares: readonly Share[], days: readonly Day[]) {
  const refs = shares.map(({ id }) => id ?? NO_ROUTE);
  const rows = await tx.$queryRaw<{ ref: string; day: string; calls: number; counted: number }[]>`
    select ref_id::text as ref, day::text as day, calls::float8 as calls, counted::float8 as counted from call_days
    where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and kind = ${kind} and ref_id = any(${refs}::uuid[])
      and day between ${days[0]?.day}::date and ${days.at(-1)?.day}::date`;
  const known = new Map(rows.map((row) => [`${row.ref} ${row.day}`, row]));
  return shares.map(({ id, name }) => {
    const own = days.map(({ day }) => known.get(`${id ?? NO_ROUTE} ${day}`));
    return { id, name, calls: own.map((row) => row?.calls ?? 0), counted: own.map((row) => row?.counted ?? 0) };
  });
}

const isoDay = (at: Date) => at.toISOString().slice(0, 10);
const figures = ({ calls, errors, counted }: Figures): Figures => ({ calls, errors, counted });
const refOf = (row: { ref: string | null }) => row.ref ?? NO_ROUTE;
/** Calls of no route are counted under an id of noughts. */
export const idOf = (ref: string): string | null => (ref === NO_ROUTE ? null : ref);

/** A day without a call is a fact too. */
function everyDay(from: string, to: string, known: readonly ({ day: string | null } & Figures)[]): Day[] {
  const byDay = new Map(known.map((row) => [row.day, figures(row)]));
  const days = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += DAY) {
    const day = isoDay(new Date(at));
    days.push({ day, ...(byDay.get(day) ?? { calls: 0, errors: 0, counted: 0 }) });
  }
  return days;
}
