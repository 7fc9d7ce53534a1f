import type { z } from 'zod';
import { FEATURES, LIMITS, type LimitKey, planFeature, planLimit } from '#server/domain/plans/schema.ts';
import { hasFeature } from '#server/domain/plans/service.ts';
import { SANDBOX_LOG_DAYS } from '#server/domain/retention/service.ts';
import { seatsTaken } from '#server/domain/team/service.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import type { Family } from '#server/kernel/family.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import type { UpdateAccount } from './schema.ts';
import { type AccountRow, tenantRow } from './workspace-row.ts';

export { deletedWorkspaces, deleteWorkspace, restoreWorkspace } from './deletion.ts';
export { deleteErasedRows } from './erasure.ts';
export { getSettings, updateSettings } from './settings.ts';
export { changeSlug } from './slug.ts';
export { notifyUsage } from './usage-notices.ts';
export { lockedAccount } from './workspace-row.ts';

/** The workspace of the caller (interface rule 20 §2). @throws Refusal not_found when its row is gone */
export const getAccount = (ctx: Ctx): Promise<AccountRow> => read(ctx, (tx) => tenantRow(tx, ctx));

/** Renames the workspace; its slug and region stay. */
export function updateAccount(ctx: Ctx, input: z.output<typeof UpdateAccount>) {
  return mutate(ctx, async (tx) => {
    const before = await tenantRow(tx, ctx);
    await tx.tenants.update({ where: { id: ctx.tenant_id }, data: { ...input, updated_at: ctx.now }, select: { id: true } });
    const after = await tenantRow(tx, ctx);
    return audited(after, {
      action: 'update',
      resource_type: 'tenant',
      resource_id: ctx.tenant_id,
      name: after.name,
      changes: changesOf(before, after, Object.keys(input)),
      workspace_level: true,
    });
  });
}

/** Usage of the current calendar month (UTC) and the counted rows of this space. Test calls are never counted (interface rule 64 §4). */
export function getUsage(ctx: Ctx, families: readonly Family[]) {
  return read(ctx, async (tx) => {
    const tenant = await tenantRow(tx, ctx);
    const [limits, counts, calls] = [await effectiveLimits(tx, ctx), await countsOf(tx, ctx), await callsThisMonth(tx, ctx)];
    const limit = limits.get('api_calls')?.limit ?? null;
    const resources = Object.fromEntries(
      [...limitedBy(families), 'members' as const].map((kind) => [
        kind,
        { used: counts.get(kind) ?? 0, limit: limits.get(kind)?.limit ?? null },
      ]),
    );
    return {
      billing_period: {
        year: ctx.now.getUTCFullYear(),
        month: ctx.now.getUTCMonth() + 1,
        start: tenant.subscription_current_period_start,
        end: tenant.subscription_current_period_end,
      },
      api_calls: { used: calls, limit, percentage: limit === null ? 0 : Math.round((calls / limit) * 10_000) / 100 },
      resources,
      forecast: { api_calls: forecast(calls, ctx.now) },
      log_retention_days: ctx.sandbox ? SANDBOX_LOG_DAYS : (limits.get('log_retention_days')?.limit ?? null),
      audit_retention_days: limits.get('audit_retention_days')?.limit ?? null,
      plan: tenant.subscription_plan,
      status: tenant.subscription_status,
    };
  });
}

/** Limits on the number of a kind of resource. */
const limitedBy = (families: readonly Family[]) =>
  families.flatMap(({ resources = [] }) => resources.flatMap(({ limit }) => (limit === undefined ? [] : (limit as LimitKey))));

/** Every limit and feature of the plan as it stands for this workspace, overrides included, with what is used (interface rule 20 §3.6). */
export function getPlan(ctx: Ctx) {
  return read(ctx, async (tx) => {
    const tenant = await tenantRow(tx, ctx);
    const limits = await effectiveLimits(tx, ctx);
    const counts = await countsOf(tx, ctx);
    counts.set('api_calls', 0);
    for (const { kind, n } of await usesThisMonth(tx, ctx)) counts.set(kind, Number(n));
    return {
      plan: tenant.subscription_plan,
      status: tenant.subscription_status,
      limits: (Object.keys(LIMITS) as LimitKey[]).map((key) => ({
        key,
        limit: limits.get(key)?.limit ?? null,
        overridden: limits.get(key)?.overridden ?? false,
        used: counts.get(key) ?? null,
      })),
      features: FEATURES.map((key) => ({ key, included: planFeature(tenant.subscription_plan, key), usable_here: hasFeature(ctx, key) })),
    };
  });
}

async function effectiveLimits(tx: Tx, ctx: Ctx): Promise<Map<LimitKey, { limit: number | null; overridden: boolean }>> {
  const overrides = await tx.tenant_limit_overrides.findMany({
    where: { tenant_id: ctx.tenant_id, OR: [{ expires_at: null }, { expires_at: { gt: ctx.now } }] },
  });
  return new Map(
    (Object.keys(LIMITS) as LimitKey[]).map((key) => {
      const override = overrides.find((o) => o.kind === key);
      return [key, { limit: override ? override.value : planLimit(ctx.plan, key), overridden: Boolean(override) }];
    }),
  );
}

async function countsOf(tx: Tx, ctx: Ctx): Promise<Map<string, number>> {
  const rows = await tx.row_counts.findMany({ where: own(ctx) });
  const counts = new Map(rows.map((r) => [r.kind, Number(r.n)]));
  counts.set('members', await seatsTaken(tx, ctx));
  return counts;
}

/** All that is counted by the month: calls, encrypted values, client tokens, detokenizations. */
const usesThisMonth = (tx: Tx, ctx: Ctx) =>
  tx.usage_counters.findMany({
    where: { tenant_id: ctx.tenant_id, year: ctx.now.getUTCFullYear(), month: ctx.now.getUTCMonth() + 1 },
    select: { kind: true, n: true },
  });

async function callsThisMonth(tx: Tx, ctx: Ctx): Promise<number> {
  const row = await tx.usage_counters.findUnique({
    where: {
      tenant_id_kind_year_month: {
        tenant_id: ctx.tenant_id,
        kind: 'api_calls',
        year: ctx.now.getUTCFullYear(),
        month: ctx.now.getUTCMonth() + 1,
      },
    },
  });
  return Number(row?.n ?? 0n);
}

/** The month's total at today's pace; unknown on the first hours of a month. */
function forecast(used: number, now: Date): number | null {
  const start = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
  const end = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
  const gone = now.getTime() - start;
  return gone < 6 * 3_600_000 ? null : Math.round((used / gone) * (end - start));
}
