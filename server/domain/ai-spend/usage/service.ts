import type { z } from 'zod';
import type { Ctx } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { csvLine, download, type RawBody } from '#server/kernel/raw-body.ts';
import { type BreakdownQuery, type ExportUsage, MOST_DAYS, PERIODS, type UsageQuery } from './schema.ts';
import { byDay, byGroup, byModel, labelsOf, totalsOf } from './store.ts';

const DAY = 24 * 3_600_000;
const MOST_ROWS = 100_000;
const MOST_SHOWN = 1_000;

/** Figures of a period: by model, and by day and agent where they are asked for. */
export function getUsage(ctx: Ctx, { granularity, ...query }: z.output<typeof UsageQuery>) {
  const { days, ...filters } = periodOf(ctx, query);
  return read(ctx, async (tx) => {
    const usage = {
      period_days: days,
      ...datesOf(filters),
      by_model: await byModel(tx, ctx, filters),
      totals: await totalsOf(tx, ctx, filters),
    };
    if (granularity === undefined) return usage;
    const agents = await byGroup(tx, ctx, filters, 'agent', MOST_SHOWN);
    const names = await labelsOf(
      tx,
      ctx,
      'agent',
      agents.map(({ group }) => group),
    );
    return {
      ...usage,
      by_day: await byDay(tx, ctx, filters),
      by_agent: agents.map(({ group, ...figures }) => ({ agent_id: group, agent_name: (group && names.get(group)) || null, ...figures })),
    };
  });
}

/** Figures of a period by one thing, as the export has them. */
export const getBreakdown = (ctx: Ctx, query: z.output<typeof BreakdownQuery>) => breakdown(ctx, query, MOST_SHOWN);

export async function exportUsage(ctx: Ctx, { format, ...query }: z.output<typeof ExportUsage>) {
  const found = await breakdown(ctx, query, MOST_ROWS);
  await mutate(ctx, async () =>
    audited(undefined, {
      action: 'export',
      resource_type: 'ai_gateway',
      resource_id: null,
      details: { format, group_by: query.group_by, from: found.from, to: found.to, rows: found.rows.length },
    }),
  );
  return found;
}

/** The same as RFC 4180, for spreadsheets. */
export async function exportUsageCsv(ctx: Ctx, query: z.output<typeof ExportUsage>): Promise<RawBody> {
  const found = await exportUsage(ctx, query);
  const name = `ai-usage-${found.group_by.replace(':', '-')}-${found.from}-${found.to}.csv`;
  return download('text/csv; charset=utf-8', name, csv(found.rows));
}

type Row = Awaited<ReturnType<typeof breakdown>>['rows'][number];

async function* csv(rows: readonly Row[]): AsyncGenerator<string> {
  yield csvLine(['group', 'requests', 'input_tokens', 'output_tokens', 'cost_usd', 'unpriced_requests', 'group_label']);
  for (const { group, requests, input_tokens, output_tokens, cost_usd, unpriced_requests, group_label } of rows)
    yield csvLine([group, requests, input_tokens, output_tokens, cost_usd.toFixed(6), unpriced_requests, group_label]);
}

function breakdown(ctx: Ctx, { group_by, ...query }: z.output<typeof BreakdownQuery>, most: number) {
  const { days, ...filters } = periodOf(ctx, query);
  return read(ctx, async (tx) => {
    const groups = await byGroup(tx, ctx, filters, group_by, most);
    const labels = await labelsOf(
      tx,
      ctx,
      group_by,
      groups.map(({ group }) => group),
    );
    const rows = groups.map(({ group, ...figures }) => ({ group, ...figures, group_label: (group !== null && labels.get(group)) || null }));
    return { group_by, period_days: days, ...datesOf(filters), rows };
  });
}

type PeriodQuery = Pick<z.output<typeof UsageQuery>, 'period' | 'from' | 'to' | 'agent_id' | 'gateway_id'>;

/** The days asked for: the last 30 of UTC, today included, unless the query says otherwise. @throws Refusal validation_error */
function periodOf(ctx: Ctx, { period, from, to, agent_id, gateway_id }: PeriodQuery) {
  if (period !== undefined && (from !== undefined || to !== undefined)) throw invalid('period', "can't be combined with from and to");
  const today = dayOf(ctx.now.getTime());
  const last = to ?? today;
  const first = from ?? dayOf(Date.parse(last) - (PERIODS[period ?? '30d'] - 1) * DAY);
  const days = Math.round((Date.parse(last) - Date.parse(first)) / DAY) + 1;
  if (days < 1) throw invalid('from', "must not be after 'to'");
  if (days > MOST_DAYS) throw invalid('from', `must be at most ${MOST_DAYS} days before 'to'`);
  return { from: first, to: last, days, agent_id, gateway_id };
}

const datesOf = ({ from, to }: { from: string; to: string }) => ({ from, to });
const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10);
