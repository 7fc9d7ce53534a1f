import { limitOf } from '#server/domain/plans/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { wholeList } from '#server/kernel/page.ts';
import type { ExecutionStatus } from './definition.shared.ts';
import { namesOf } from './drafts.ts';

type Day = { workflow_id: string; day: string; completed: number; failed: number };
type Last = { workflow_id: string; id: string; status: string; created_at: Date };
const MOST = 1_000;

/** The last run of each workflow, and how its runs of the last seven days (UTC) ended. */
export const usageOfWorkflows = (ctx: Ctx) =>
  read(ctx, async (tx) => {
    const rows = await tx.workflows.findMany({
      where: own(ctx),
      orderBy: [{ created_at: 'desc' }, { id: 'desc' }],
      take: MOST,
      select: { id: true, dropped_count: true, created_by: true },
    });
    const days = await tx.$queryRaw<Day[]>`
      select workflow_id::text, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as day,
        (count(*) filter (where status = 'completed'))::int as completed, (count(*) filter (where status = 'failed'))::int as failed
      from workflow_executions where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox}
        and created_at >= (${ctx.now}::timestamptz at time zone 'UTC')::date - 6 group by 1, 2`;
    const last = await tx.$queryRaw<Last[]>`
      select w.id::text as workflow_id, e.id::text as id, e.status, e.created_at from workflows w cross join lateral (
        select id, status, created_at from workflow_executions where workflow_id = w.id order by created_at desc, id desc limit 1) e
      where w.tenant_id = ${ctx.tenant_id}::uuid and w.sandbox = ${ctx.sandbox}`;
    const names = await namesOf(
      tx,
      rows.map(({ created_by }) => created_by),
    );
    const span = lastDays(ctx.now);
    const newestOf = new Map(last.map((one) => [one.workflow_id, one]));
    const countsOf = new Map(days.map((one) => [`${one.workflow_id} ${one.day}`, one]));
    return wholeList(
      rows.map(({ id, dropped_count, created_by }) => {
        const newest = newestOf.get(id);
        return {
          ...{ id, dropped: dropped_count, created_by: names(created_by) },
          last_status: (newest?.status ?? null) as ExecutionStatus | null,
          ...{ last_execution_id: newest?.id ?? null, last_at: newest?.created_at ?? null },
          days: span.map((day) => {
            const found = countsOf.get(`${id} ${day}`);
            return { day, completed: found?.completed ?? 0, failed: found?.failed ?? 0 };
          }),
        };
      }),
    );
  });

const DAY = 86_400_000;
const lastDays = (now: Date): string[] =>
  [6, 5, 4, 3, 2, 1, 0].map((ago) => new Date(now.getTime() - ago * DAY).toISOString().slice(0, 10));

/** Operations of Live runs in this month (UTC), and what the month comes to at this pace. */
export const operationsOfMonth = (ctx: Ctx) =>
  read(ctx, async (tx) => {
    const [year, month] = [ctx.now.getUTCFullYear(), ctx.now.getUTCMonth() + 1];
    const row = await tx.usage_counters.findUnique({
      where: { tenant_id_kind_year_month: { tenant_id: ctx.tenant_id, kind: 'workflow_operations', year, month } },
      select: { n: true },
    });
    const used = Number(row?.n ?? 0);
    const [period_start, period_end] = [new Date(Date.UTC(year, month - 1, 1)), new Date(Date.UTC(year, month, 1))];
    const gone = Math.max(ctx.now.getTime() - period_start.getTime(), DAY);
    const forecast = Math.max(used, Math.round((used * (period_end.getTime() - period_start.getTime())) / gone));
    return { used, limit: await limitOf(tx, ctx, 'workflow_operations'), forecast, period_start, period_end };
  });
