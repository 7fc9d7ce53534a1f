'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { changeOf } from '#components/home/ranges.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { cn } from '#components/ui/cn.ts';
import { SectionCard } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Stat } from '#components/ui/stat.tsx';
import type { Dimension, Metric } from '#server/domain/request-logs/analytics/words.shared.ts';
import { LineChart } from './line-chart.tsx';
import { type Asked, askedOf } from './search.ts';
import { useCallsOf } from './use-calls-of.ts';
import { dimensionWords, filtersOf, metricWords, partText } from './words.ts';

type Props = { search: Asked; now: number };

const FIGURES: readonly Metric[] = ['requests', 'error_rate', 'p95', 'unique_clients'];
const CHARTS: readonly Metric[] = ['requests', 'error_rate', 'p95', 'rate_limited'];
const TITLES: Partial<Record<Dimension, string>> = { error: 'Top errors', api_key: 'Top API keys' };
const TOPS: readonly Dimension[] = ['route', 'client', 'error'];

type OverviewProps = Props & { figures?: readonly Metric[]; charts?: readonly Metric[]; tops?: readonly Dimension[]; narrow?: boolean };

/** The figures one asks first, against the equally long time before, and what they are made of; `narrow` in a panel beside a list. */
export function AnalyticsOverview({ figures = FIGURES, charts = CHARTS, tops = TOPS, narrow = false, ...props }: OverviewProps) {
  return (
    <div className="flex flex-col gap-4">
      <div className={cn('grid grid-cols-2 gap-3', !narrow && 'lg:grid-cols-4')}>
        {figures.map((metric) => (
          <Figure key={metric} metric={metric} {...props} />
        ))}
      </div>
      <div className={cn('grid grid-cols-1 gap-4', !narrow && 'xl:grid-cols-2')}>
        {charts.map((metric) => (
          <Chart key={metric} metric={metric} {...props} />
        ))}
      </div>
      <div className={cn('grid grid-cols-1 gap-4', !narrow && 'lg:grid-cols-3')}>
        {tops.map((by) => (
          <Top key={by} by={by} {...props} />
        ))}
      </div>
    </div>
  );
}

function useFigures({ search, now }: Props, metric: Metric, by?: Dimension) {
  const trpc = useTRPC();
  return useQuery(
    trpc.requestLogs.analytics.queryOptions(
      { ...askedOf(search, now), metric, ...(by ? { group_by: [by] } : {}) },
      { placeholderData: keepPreviousData },
    ),
  );
}

function Figure({ metric, ...props }: Props & { metric: Metric }) {
  const { data } = useFigures(props, metric);
  const { label, figure, lowerIsBetter } = metricWords[metric];
  const value = data?.totals.value ?? null;
  return (
    <Stat
      label={label}
      value={data ? (value === null ? '—' : figure(value)) : '…'}
      change={data && changeOf(value, data.compared?.value ?? null, lowerIsBetter)}
    />
  );
}

function Chart({ metric, ...props }: Props & { metric: Metric }) {
  const figures = useFigures(props, metric);
  const router = useRouter();
  const callsOf = useCallsOf(props.search);
  const { label, figure, short } = metricWords[metric];
  const only = figures.data?.series[0];
  return (
    <SectionCard title={label}>
      {figures.isError && !figures.data ? (
        <QueryError query={figures} what={label} />
      ) : figures.data ? (
        only ? (
          <LineChart
            label={label}
            times={only.points.map(([at]) => at)}
            stepMs={figures.data.step_seconds * 1_000}
            lines={[{ label, points: only.points.map(([, value]) => value) }]}
            marks={figures.data.annotations.map(({ at, action, resource_type }) => ({ at, text: `${resource_type} ${action}` }))}
            figure={figure}
            short={short}
            onPick={(span) => router.push(callsOf(span))}
            height={140}
          />
        ) : (
          <p className="text-ink-2">No calls in this period.</p>
        )
      ) : (
        <Skeleton lines={5} label={`Loading ${label.toLowerCase()}`} />
      )}
    </SectionCard>
  );
}

function Top({ by, ...props }: Props & { by: Dimension }) {
  const figures = useFigures(props, 'requests', by);
  const callsOf = useCallsOf(props.search);
  const { label } = dimensionWords[by];
  const rows = (figures.data?.series ?? []).filter(({ key: [part] }) => by !== 'error' || part?.value !== null).slice(0, 8);
  return (
    <SectionCard title={TITLES[by] ?? `Top ${label.toLowerCase()}s`}>
      {figures.isError && !figures.data ? (
        <QueryError query={figures} what={label} />
      ) : !figures.data ? (
        <Skeleton lines={4} label={`Loading ${label.toLowerCase()}`} />
      ) : rows.length === 0 ? (
        <p className="text-ink-2">None in this period.</p>
      ) : (
        <ol className="flex flex-col divide-y divide-line">
          {rows.map(({ key, total }) => {
            const [part] = key;
            const filters = filtersOf(key);
            const span = { from: figures.data.from, to: figures.data.to };
            return (
              <li key={part?.value} className="flex items-baseline justify-between gap-3 py-1.5">
                <span className="min-w-0 truncate">
                  {part && (filters ? <Link href={callsOf(span, filters)}>{partText(part)}</Link> : partText(part))}
                </span>
                <span className="figures text-ink-2">{metricWords.requests.figure(total ?? 0)}</span>
              </li>
            );
          })}
        </ol>
      )}
    </SectionCard>
  );
}
