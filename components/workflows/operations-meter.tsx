'use client';

import { useQuery } from '@tanstack/react-query';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { Meter } from '#components/ui/meter.tsx';
import { grouped } from '#components/ui/numbers.ts';

/** Operations of the month, and what it comes to at this pace. Runs in Test aren't counted, which it says there. */
export function OperationsMeter() {
  const trpc = useTRPC();
  const { space } = useScope();
  const { data } = useQuery(trpc.workflows.operationsUsed.queryOptions({}));
  if (!data) return <div className="h-10" />;
  const forecast = `About ${grouped(data.forecast)} by the end of the month at this pace.`;
  return (
    <div className="flex max-w-xl flex-col gap-1">
      {data.limit === null ? (
        <p className="figures text-ink-2 text-xs">{grouped(data.used)} operations this month</p>
      ) : (
        <Meter
          value={data.used}
          max={data.limit}
          label="Operations this month"
          detail={`${grouped(data.used)} of ${grouped(data.limit)}`}
        />
      )}
      <p className="text-ink-3 text-xs">{space === 'test' ? `Runs in Test aren’t counted. ${data.used > 0 ? forecast : ''}` : forecast}</p>
    </div>
  );
}
