'use client';

import { useQuery } from '@tanstack/react-query';
import { barsOf } from '#components/logs/series.ts';
import { useTraffic } from '#components/logs/use-traffic.ts';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { grouped, millis } from '#components/ui/numbers.ts';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { TimeHistogram } from '#components/ui/time-histogram.tsx';

/** What a key does with its calls: the last day as bars, the month in a sentence, and the routes it calls. */
export function KeyTraffic({ id }: { id: string }) {
  const trpc = useTRPC();
  const path = usePath();
  const { space } = useScope();
  const stats = useQuery(trpc.requestLogs.stats.queryOptions({ api_key_id: id }));
  const month = useTraffic('api_key', [id])(id);
  if (stats.isError) return <QueryError query={stats} what="Calls" />;
  if (!stats.data) return <Skeleton lines={4} label="Loading calls" />;
  const { totals, latency, top_routes } = stats.data;
  return (
    <section className="flex flex-col gap-2">
      <h3 className="font-semibold">Calls through routes</h3>
      <p className="figures text-ink-2">
        {totals.total === 0 ? 'None' : grouped(totals.total)} in the last 24 hours
        {totals.total > 0 && `, ${grouped(totals.errors)} failed${latency.p95 === null ? '' : `, p95 ${millis(latency.p95)}`}`}
        {month && `; ${grouped(month.calls_30d)} in 30 days`}.
      </p>
      {totals.total > 0 && (
        <TimeHistogram
          buckets={barsOf(stats.data)}
          bucketMs={stats.data.step_seconds * 1_000}
          unit="calls"
          muted={space === 'test'}
          height={40}
        />
      )}
      {top_routes.length > 0 && (
        <p className="text-ink-3 text-xs">
          Top routes:{' '}
          {top_routes.slice(0, 3).map((route, index) => (
            <span key={route.route_id ?? 'none'}>
              {index > 0 && ', '}
              {route.route_id ? (
                <Link className={textLink} href={path(`/routes/${route.route_id}`)}>
                  {route.name ?? 'Deleted route'}
                </Link>
              ) : (
                'No route'
              )}{' '}
              ({grouped(route.count)})
            </span>
          ))}
          .
        </p>
      )}
    </section>
  );
}
