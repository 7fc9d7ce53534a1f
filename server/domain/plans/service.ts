import type { Ctx } from '#server/kernel/context.ts';
import { own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import type { Feature } from '#server/kernel/features.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import { moreRoom } from '#server/kernel/plan-limits.ts';
import { ENTERPRISE_IDENTITY, type LimitKey, type PlanName, planFeature, planLimit } from './schema.ts';

/**
 * Refuses when one more row of `kind` would pass the plan's limit. Call it inside the creating transaction: the advisory lock it takes makes
 * count, compare and insert one step (interface rule 20 §3.2).
 * @throws Refusal plan_limit: 403 for clients and environments, 402 elsewhere (interface rule 01 §5.1).
 */
export async function withinPlan(tx: Tx, ctx: Ctx, kind: LimitKey, more = 1): Promise<void> {
  const limit = await limitOf(tx, ctx, kind);
  if (limit === null) return;
  await holdLock(tx, `${ctx.tenant_id}:${kind}:${ctx.sandbox}`);
  const used = await countOf(tx, ctx, kind);
  if (used + more <= limit) return;
  throw new Refusal(
    'plan_limit',
    `The ${ctx.plan} plan allows ${limit} ${nounOf(kind, limit)} in this space, and ${used} already ${used === 1 ? 'exists' : 'exist'}. Delete one or ${moreRoom(ctx.plan)}.`,
    {
      status: kind === 'clients' || kind === 'environments' ? 403 : 402,
    },
  );
}

const NOUNS: Partial<Record<LimitKey, string>> = {
  api_keys: 'API keys',
  oauth_clients: 'OAuth clients',
  crypto_keys: 'crypto keys',
  pki_roots: 'roots',
  dyn_db_connections: 'database connections',
  dyn_db_leases: 'live database leases',
};
const nounOf = (kind: LimitKey, n: number) => (NOUNS[kind] ?? kind).slice(0, n === 1 ? -1 : undefined);

/** The effective limit: an operator's override, else the plan's number. null = unlimited. */
export async function limitOf(tx: Tx, ctx: Ctx, kind: LimitKey): Promise<number | null> {
  const override = await tx.tenant_limit_overrides.findFirst({
    where: { tenant_id: ctx.tenant_id, kind, OR: [{ expires_at: null }, { expires_at: { gt: ctx.now } }] },
  });
  return override ? override.value : planLimit(ctx.plan, kind);
}

/** Live rows of a kind in this space, from the counters that triggers keep. */
export async function countOf(tx: Tx, ctx: Ctx, kind: string): Promise<number> {
  const row = await tx.row_counts.findUnique({ where: { tenant_id_sandbox_kind: { ...own(ctx), kind } } });
  return Number(row?.n ?? 0n);
}

/** Whether a feature may be used here: in Test everything but Enterprise identity may be tried (interface rule 64 §4). */
export const hasFeature = (ctx: Pick<Ctx, 'plan' | 'sandbox'>, feature: Feature): boolean =>
  planFeature(ctx.plan as PlanName, feature) || (ctx.sandbox && !ENTERPRISE_IDENTITY.has(feature));

/** @throws Refusal plan_feature 402 */
export function requireFeature(ctx: Ctx, feature: Feature): void {
  if (!hasFeature(ctx, feature)) throw new Refusal('plan_feature', `The ${ctx.plan} plan doesn't include ${feature.replaceAll('_', ' ')}.`);
}
