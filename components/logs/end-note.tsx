'use client';

import { useQuery } from '@tanstack/react-query';
import { daysKept } from '#components/settings/retention-text.ts';
import { useTRPC } from '#components/trpc/provider.tsx';

/** Said at the end of the list: how far back it could reach. */
export function EndNote() {
  const trpc = useTRPC();
  const usage = useQuery({ ...trpc.account.usage.queryOptions({}), staleTime: 300_000 });
  if (!usage.data) return <span>No more calls in this period.</span>;
  const { log_retention_days, plan } = usage.data;
  return (
    <span>
      No more calls in this period. Calls are kept {daysKept(log_retention_days)} on the {plan} plan.
    </span>
  );
}
