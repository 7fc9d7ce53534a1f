'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Meter } from '#components/ui/meter.tsx';
import { Time } from '#components/ui/time.tsx';
import { usd } from './ai-labels.ts';

const FRESH_MS = 10_000;
const LABELS = { daily: 'Today', monthly: 'This month' } as const;

/** What a gateway or agent spent today and this month (UTC), against its budget where there is one, and when that starts again. */
export function SpendBars({ of, id }: { of: 'gateway' | 'agent'; id: string }) {
  const trpc = useTRPC();
  const forbidden = useForbidden('ai_gateway:read_usage');
  const budgets = useQuery(trpc.aiSpend.budgets.queryOptions({}, { enabled: !forbidden, refetchInterval: FRESH_MS }));
  if (forbidden) return <span className="text-ink-3 text-xs">Only people who may read usage see spend.</span>;
  if (budgets.isError && !budgets.data) return <span className="text-ink-3 text-xs">Spend is unavailable.</span>;
  if (!budgets.data) return <span className="text-ink-3 text-xs">counting…</span>;
  return budgets.data.data
    .filter((budget) => budget.scope === of && budget.id === id)
    .map(({ period, cap_usd, boost_usd, spent_usd, resets_at }) => {
      const cap = cap_usd === null ? undefined : Number(cap_usd) + Number(boost_usd ?? 0);
      return (
        <span key={period} className="flex flex-col gap-1">
          {cap === undefined ? (
            <span className="flex flex-wrap items-baseline justify-between gap-x-3 text-xs">
              <span className="text-ink-2">{LABELS[period]}</span>
              <span className="figures text-ink-3">{usd(spent_usd)}, no limit</span>
            </span>
          ) : (
            <Meter label={LABELS[period]} value={spent_usd} max={cap} detail={`${usd(spent_usd)} of ${usd(cap)}`} />
          )}
          {cap !== undefined && spent_usd >= cap && (
            <span className="text-bad-ink text-xs">
              Spent. Resets <Time value={resets_at} />.
            </span>
          )}
        </span>
      );
    });
}
