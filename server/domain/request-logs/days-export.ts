import type { z } from 'zod';
import type { Ctx } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { csvLine, download, type RawBody } from '#server/kernel/raw-body.ts';
import { daysOf, type Figures, idOf, namesOf, type Split } from './days.ts';
import type { ExportDays } from './figures.schema.ts';

const BATCH = 2_000;

/** The figures behind the usage chart, a line for each day and route, client, key or environment that was called on it, oldest first, streamed. Recorded before the first line leaves. */
export async function exportDays(ctx: Ctx, { by, ...asked }: z.output<typeof ExportDays>): Promise<RawBody> {
  const { from, to } = daysOf(ctx, asked);
  await mutate(ctx, async () =>
    audited(undefined, {
      action: 'export',
      resource_type: 'request_log',
      resource_id: null,
      details: { format: 'csv', figures: 'days', by, from, to },
    }),
  );
  return download('text/csv; charset=utf-8; header=present', `usage-by-${by}-${from}-${to}.csv`, csv(ctx, by, from, to));
}

async function* csv(ctx: Ctx, kind: Split, from: string, to: string): AsyncGenerator<string> {
  yield csvLine(['day', kind, `${kind}_id`, 'calls', 'errors', 'counted']);
  let last = { day: '0001-01-01', ref: '00000000-0000-0000-0000-000000000000' };
  for (let first = true; ; first = false) {
    const rows = await read(ctx, async (tx) => {
      const found = await tx.$queryRaw<({ day: string; ref: string } & Figures)[]>`
        select day::text as day, ref_id::text as ref, calls::float8 as calls, errors::float8 as errors, counted::float8 as counted from call_days
        where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and kind = ${kind} and day between ${from}::date and ${to}::date and calls > 0
          and (${first} or (day, ref_id) > (${last.day}::date, ${last.ref}::uuid)) order by day, ref_id limit ${BATCH}`;
      const names = await namesOf(tx, ctx, kind, [...new Set(found.map(({ ref }) => ref))]);
      return found.map((row) => ({ ...row, name: names.get(row.ref) ?? null }));
    });
    for (const { day, ref, name, calls, errors, counted } of rows) yield csvLine([day, name, idOf(ref), calls, errors, counted]);
    const end = rows.at(-1);
    if (!end || rows.length < BATCH) return;
    last = end;
  }
}
