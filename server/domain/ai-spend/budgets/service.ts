import type { z } from 'zod';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { pageOf } from '#server/kernel/page.ts';
import { pagedRows } from '#server/platform/lists/paged.ts';
import type { AlertKind } from '../alert-events.shared.ts';
import { PERIOD_NAMES, type Period, periodOf } from '../periods.shared.ts';
import type { ListAlerts, ListBudgets } from './schema.ts';

type Budgeted = {
  id: string;
  name: string;
  slug: string;
  gateway_id?: string;
  status: string;
  budget_daily_usd: { toString(): string } | null;
  budget_monthly_usd: { toString(): string } | null;
  budget_boost: unknown;
};
type Boost = { amount: string; until: string };

/** What every gateway and agent has spent today and this month, of what it may. Archived ones are left out. */
export function listBudgets(ctx: Ctx, { gateway_id, agent_id }: z.output<typeof ListBudgets>) {
  const now = ctx.now.getTime();
  const periods = (['day', 'month'] as const).map((period) => ({ period, ...periodOf(period, now) }));
  const select = {
    id: true,
    name: true,
    slug: true,
    status: true,
    budget_daily_usd: true,
    budget_monthly_usd: true,
    budget_boost: true,
  } as const;
  return read(ctx, async (tx) => {
    const where = { ...own(ctx), status: { not: 'archived' } };
    const gateways =
      agent_id === undefined
        ? await tx.ai_gateways.findMany({
            where: { ...where, ...(gateway_id ? { id: gateway_id } : {}) },
            select,
            orderBy: { name: 'asc' },
          })
        : [];
    const agents = await tx.ai_agents.findMany({
      where: { ...where, ...(gateway_id ? { gateway_id } : {}), ...(agent_id ? { id: agent_id } : {}) },
      select: { ...select, gateway_id: true },
      orderBy: { name: 'asc' },
    });
    const counters = await tx.ai_spend_counters.findMany({
      where: {
        ...own(ctx),
        subject_id: { in: [...gateways, ...agents].map(({ id }) => id) },
        OR: periods.map(({ period, start }) => ({ period, period_start: new Date(start) })),
      },
    });
    const byKey = new Map(counters.map((counter) => [`${counter.subject_id} ${counter.period}`, counter]));
    const rows = [
      ...gateways.map((row) => ({ scope: 'gateway' as const, row: { ...row, gateway_id: row.id } })),
      ...agents.map((row) => ({ scope: 'agent' as const, row })),
    ];
    return rows.flatMap(({ scope, row }) =>
      periods.map(({ period, end }) => budgetOf(scope, row, period, new Date(end), byKey.get(`${row.id} ${period}`), ctx.now)),
    );
  });
}

type Counter = { spent_nano: bigint; reserved_nano: bigint; tokens: bigint };

function budgetOf(
  scope: 'gateway' | 'agent',
  row: Budgeted & { gateway_id: string },
  period: Period,
  resets_at: Date,
  counter: Counter | undefined,
  now: Date,
) {
  const cap = period === 'day' ? row.budget_daily_usd : row.budget_monthly_usd;
  const boost = boostOf(row.budget_boost, now);
  const spent = Number(counter?.spent_nano ?? 0n) / 1e9;
  const most = cap === null ? null : Number(cap) + Number(boost ?? 0);
  const { id, name, slug, gateway_id, status } = row;
  return {
    scope,
    id,
    name,
    slug,
    gateway_id,
    status,
    period: PERIOD_NAMES[period] as 'daily' | 'monthly',
    cap_usd: cap === null ? null : usd(cap),
    boost_usd: cap === null ? null : boost,
    spent_usd: spent,
    reserved_usd: Number(counter?.reserved_nano ?? 0n) / 1e9,
    tokens: Number(counter?.tokens ?? 0n),
    utilization_pct: most === null ? null : most === 0 ? 100 : Math.round((spent / most) * 100_000) / 1_000,
    resets_at,
  };
}

/** The amount of a boost that still holds. */
function boostOf(stored: unknown, now: Date): string | null {
  const boost = stored as Boost | null;
  return boost && Date.parse(boost.until) > now.getTime() ? boost.amount : null;
}

const usd = (amount: { toString(): string }): string =>
  Number(amount.toString())
    .toFixed(4)
    .replace(/0{1,2}$/, '');

type AlertData = { spent_nano?: string; cap_nano?: string; error_rate?: number; provider?: string; model?: string };

/** Alerts that were given, the newest first. */
export function listAlerts(ctx: Ctx, page: z.output<typeof ListAlerts>) {
  return read(ctx, async (tx) => {
    const total = await tx.ai_alerts.count({ where: own(ctx) });
    const rows = await pagedRows(
      page,
      total,
      [{ created_at: 'desc' }, { id: 'desc' }],
      (window) => tx.ai_alerts.findMany({ where: own(ctx), ...window, select: { id: true } }),
      (ids) => tx.ai_alerts.findMany({ where: { ...own(ctx), id: { in: ids } } }),
    );
    const shown = rows.map(({ data, subject_type, threshold, kind, period, ...row }) => {
      const { spent_nano, cap_nano, error_rate, provider, model } = data as AlertData;
      return {
        ...row,
        kind: kind as AlertKind,
        scope: subject_type,
        subject_id: row.subject_id.slice(0, 36),
        period: PERIOD_NAMES[period as Period] ?? period,
        threshold_pct: threshold,
        spent_usd: spent_nano === undefined ? null : Number(spent_nano) / 1e9,
        limit_usd: cap_nano === undefined ? null : Number(cap_nano) / 1e9,
        error_rate: error_rate ?? null,
        provider: provider ?? null,
        model: model ?? null,
      };
    });
    return pageOf(shown, total, page);
  });
}
