import type { HotCtx } from '#server/kernel/context.ts';
import { type LimitKey, planLimit } from '#server/kernel/plan-limits.ts';
import { processState } from '#server/kernel/process-state.ts';
import { ownQuery, ownRows } from '#server/platform/own-rows.ts';

const HELD_MS = 10_000;
type Held = { values: ReadonlyMap<string, number | null>; until: number };
const held = processState('plan-overrides', () => new Map<string, Held>());

type Place = Pick<HotCtx, 'tenant_id' | 'sandbox' | 'plan' | 'now'>;

/** The limit of a workspace without Prisma: an operator's override, which counts within ten seconds, or else the plan's number. null = unlimited. */
export async function effectiveLimit(ctx: Place, kind: LimitKey): Promise<number | null> {
  const override = (await overridesOf(ctx)).get(kind);
  return override === undefined ? planLimit(ctx.plan, kind) : override;
}

async function overridesOf(ctx: Place): Promise<ReadonlyMap<string, number | null>> {
  const known = held.get(ctx.tenant_id);
  if (known && known.until > performance.now()) return known.values;
  const rows = await ownRows<{ kind: string; value: string | null }>(ctx, OVERRIDES, ctx.now);
  const values = new Map(rows.map(({ kind, value }) => [kind, value === null ? null : Number(value)] as const));
  if (held.size > 10_000) held.clear();
  held.set(ctx.tenant_id, { values, until: performance.now() + HELD_MS });
  return values;
}

const OVERRIDES = ownQuery(
  'plan-overrides',
  'select kind, value from tenant_limit_overrides where tenant_id = $1 and (expires_at is null or expires_at > $3::timestamptz)',
);
