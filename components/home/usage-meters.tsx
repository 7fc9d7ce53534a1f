'use client';

import { useQuery } from '@tanstack/react-query';
import { LIMIT_WORDS } from '#components/settings/plan-labels.ts';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Meter } from '#components/ui/meter.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { Skeleton } from '#components/ui/skeleton.tsx';
import type { LimitKey } from '#server/domain/plans/schema.ts';

/** The month's calls and the counted things that come closest to their limits. */
export function UsageMeters() {
  const trpc = useTRPC();
  const { slug } = useScope();
  const usage = useQuery(trpc.account.usage.queryOptions({}));
  if (usage.error && !usage.data) return <QueryError query={usage} what="Usage" />;
  if (!usage.data) return <Skeleton lines={3} label="Loading usage" />;
  const { api_calls, resources, plan } = usage.data;
  const limited = Object.entries(resources)
    .flatMap(([kind, { used, limit }]) => {
      const label = LIMIT_WORDS[kind as LimitKey];
      return limit === null || !label ? [] : [{ label, used, limit }];
    })
    .sort((a, b) => b.used / b.limit - a.used / a.limit)
    .slice(0, 3);
  return (
    <SectionCard
      title="Usage"
      description={`${plan[0]?.toUpperCase() ?? ''}${plan.slice(1)} plan`}
      actions={
        <LinkButton size="sm" variant="ghost" href={`/${slug}/settings/usage`}>
          Details
        </LinkButton>
      }
    >
      <div className="flex flex-col gap-3">
        {api_calls.limit === null ? (
          <p className="figures text-ink-2 text-xs">{grouped(api_calls.used)} live calls this month, no limit</p>
        ) : (
          <Meter
            value={api_calls.used}
            max={api_calls.limit}
            label="Live calls this month"
            detail={`${grouped(api_calls.used)} of ${grouped(api_calls.limit)}`}
          />
        )}
        {limited.map(({ label, used, limit }) => (
          <Meter key={label} value={used} max={limit} label={label} detail={`${grouped(used)} of ${grouped(limit)}`} />
        ))}
      </div>
    </SectionCard>
  );
}
