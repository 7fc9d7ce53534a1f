import type { Caps, Overage } from './subjects.ts';
import { NO_CAPS } from './subjects.ts';

type Budgeted = {
  readonly budget: { readonly dailyNano: number | null; readonly monthlyNano: number | null };
  readonly budget_overage_action: Overage;
  /** Raises both budgets until an instant. */
  readonly budget_boost?: { readonly amount: string | number; readonly until: string } | null;
  readonly alert_thresholds?: readonly number[] | null;
};

/** What a gateway or agent may spend at an instant (epoch ms). */
export function budgetCaps({ budget, budget_overage_action, budget_boost, alert_thresholds }: Budgeted, now: number): Caps {
  const boost = budget_boost && Date.parse(budget_boost.until) > now ? nano(budget_boost.amount) : 0n;
  const raised = (cap: number | null) => (cap === null ? null : BigInt(cap) + boost);
  return {
    ...NO_CAPS,
    dailyNano: raised(budget.dailyNano),
    monthlyNano: raised(budget.monthlyNano),
    action: budget_overage_action,
    ...(alert_thresholds ? { alertAt: alert_thresholds } : {}),
  };
}

type TokenCaps = {
  readonly daily_token_cap?: number | undefined;
  readonly monthly_token_cap?: number | undefined;
  readonly daily_usd_cap?: string | number | undefined;
  readonly monthly_usd_cap?: string | number | undefined;
};

/** The signed caps of a token's scope. They always block. */
export const tokenCaps = (scope: TokenCaps): Caps => ({
  dailyNano: scope.daily_usd_cap === undefined ? null : nano(scope.daily_usd_cap),
  monthlyNano: scope.monthly_usd_cap === undefined ? null : nano(scope.monthly_usd_cap),
  dailyTokens: scope.daily_token_cap ?? null,
  monthlyTokens: scope.monthly_token_cap ?? null,
  action: 'block',
});

/** Dollars with at most four decimals, in nano-USD. */
const nano = (usd: string | number): bigint => BigInt(Math.round(Number(usd) * 10_000)) * 100_000n;
