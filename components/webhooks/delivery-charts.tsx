'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { DayBars } from '#components/ui/day-bars.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import type { Detail } from './webhook-labels.ts';

/** Deliveries by day, and how long the receiver takes. */
export function DeliveryCharts({ webhook }: { webhook: Detail }) {
  const trpc = useTRPC();
  const query = useQuery(trpc.webhooks.stats.queryOptions({ id: webhook.id }, { refetchInterval: 60_000 }));
  if (query.isError && !query.data) return <QueryError query={query} what="Figures" />;
  if (!query.data) return <Skeleton lines={6} label="Loading figures" />;
  const { days } = query.data;
  if (days.every(({ delivered, failed }) => delivered + failed === 0)) return null;
  const dates = days.map(({ day }) => day);
  return (
    <>
      <SectionCard title="Requests, last 14 days" description="One for each attempt, tests included. Days are those of UTC.">
        <DayBars
          days={dates}
          unit="requests"
          series={[
            { label: 'Delivered', values: days.map(({ delivered }) => delivered) },
            { label: 'Failed', values: days.map(({ failed }) => failed) },
          ]}
        />
      </SectionCard>
      <SectionCard title="Time to answer" description="95 of 100 requests were answered within this time.">
        <DayBars
          days={dates}
          unit="milliseconds"
          figure={(ms) => `${ms} ms`}
          height={90}
          series={[{ label: 'p95', values: days.map(({ p95_ms }) => p95_ms ?? 0) }]}
        />
      </SectionCard>
    </>
  );
}
