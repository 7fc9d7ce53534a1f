'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Download, ImageDown } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useRef } from 'react';
import { changeOf } from '#components/home/ranges.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { counted } from '#components/ui/numbers.ts';
import { Select } from '#components/ui/select.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Stat } from '#components/ui/stat.tsx';
import { Time } from '#components/ui/time.tsx';
import { DIMENSIONS, type Dimension, INTERVALS, type Interval, METRICS } from '#server/domain/request-logs/analytics/words.shared.ts';
import { LineChart } from './line-chart.tsx';
import { saveCsv, savePicture } from './save-chart.ts';
import { type AnalyticsSearch, questionOf } from './search.ts';
import { useCallsOf } from './use-calls-of.ts';
import { dimensionWords, filtersOf, intervalWords, metricWords, seriesText } from './words.ts';

type Props = { search: AnalyticsSearch; now: number; onChange: (part: Partial<AnalyticsSearch>) => void };

const NONE = '';

/** Any metric by up to two dimensions. Each point and each row leads to its calls. */
export function AnalyticsExplorer({ search, now, onChange }: Props) {
  const trpc = useTRPC();
  const router = useRouter();
  const callsOf = useCallsOf(search);
  const chart = useRef<HTMLDivElement>(null);
  const answer = useQuery(trpc.requestLogs.analytics.queryOptions(questionOf(search, now), { placeholderData: keepPreviousData }));
  const { data } = answer;
  const words = metricWords[search.metric];
  const [first, second] = search.by;
  const dimensionOptions = (taken: Dimension | undefined, none: string) => [
    { value: NONE, label: none },
    ...DIMENSIONS.filter((name) => name !== taken).map((value) => ({ value, label: dimensionWords[value].label })),
  ];
  const lines = (data?.series ?? []).map(({ key, points }) => ({ label: seriesText(key), points: points.map(([, value]) => value) }));
  const times = data?.series[0]?.points.map(([at]) => at) ?? [];
  const capped = data && Date.parse(data.covers_from) > Date.parse(data.from);
  return (
    <SectionCard
      title={`${words.label}${search.by.length > 0 ? ` by ${search.by.map((name) => dimensionWords[name].label.toLowerCase()).join(' and ')}` : ''}`}
      actions={
        <div className="flex flex-wrap gap-2">
          <Button size="sm" icon={<Download />} disabled={!data} onClick={() => data && saveCsv(data)}>
            CSV
          </Button>
          <Button
            size="sm"
            icon={<ImageDown />}
            disabled={lines.length === 0}
            onClick={() => void savePicture(chart.current, search.metric)}
          >
            PNG
          </Button>
        </div>
      }
    >
      <div className="flex flex-col gap-4">
        <div className="flex flex-wrap items-center gap-2">
          <Select
            label="Metric"
            options={METRICS.map((value) => ({ value, label: metricWords[value].label }))}
            value={search.metric}
            onValueChange={(metric) => onChange({ metric })}
            className="w-52"
          />
          <Select
            label="Group by"
            options={dimensionOptions(second, 'Not grouped')}
            value={first ?? NONE}
            onValueChange={(name) => onChange({ by: [name, second].filter(isDimension) })}
            className="w-40"
          />
          {first && (
            <Select
              label="And by"
              options={dimensionOptions(first, 'Nothing else')}
              value={second ?? NONE}
              onValueChange={(name) => onChange({ by: [first, name].filter(isDimension) })}
              className="w-40"
            />
          )}
          <Select
            label="Interval"
            options={(['auto', ...(Object.keys(INTERVALS) as Interval[])] as const).map((value) => ({
              value,
              label: intervalWords[value],
            }))}
            value={search.interval}
            onValueChange={(interval) => onChange({ interval })}
            className="w-36"
          />
        </div>
        {answer.isError ? (
          <QueryError query={answer} what="Analytics" />
        ) : !data ? (
          <Skeleton lines={8} label="Loading analytics" />
        ) : (
          <>
            <Stat
              label="All calls"
              value={data.totals.value === null ? '—' : words.figure(data.totals.value)}
              change={changeOf(data.totals.value, data.compared?.value ?? null, words.lowerIsBetter)}
              className="w-fit min-w-44"
            />
            {capped && (
              <Callout title="Counted from the newest 100,000 calls">
                This figure covers calls since <Time value={data.covers_from} format="datetime" />. Choose a shorter time range, or group by
                client or by API key alone.
              </Callout>
            )}
            {lines.length === 0 ? (
              <p className="text-ink-2">No calls in this period.</p>
            ) : (
              <div ref={chart}>
                <LineChart
                  label={words.label}
                  times={times}
                  stepMs={data.step_seconds * 1_000}
                  lines={lines}
                  marks={data.annotations.map(({ at, action, resource_type, actor_label }) => ({
                    at,
                    text: `${resource_type} ${action}${actor_label ? ` by ${actor_label}` : ''}`,
                  }))}
                  figure={words.figure}
                  short={words.short}
                  onPick={(span, line) =>
                    router.push(callsOf(span, line === undefined ? {} : (filtersOf(data.series[line]?.key ?? []) ?? {})))
                  }
                />
              </div>
            )}
            {search.by.length > 0 && lines.length > 0 && (
              <ul className="flex flex-col divide-y divide-line">
                {data.series.map(({ key, total }) => {
                  const filters = filtersOf(key);
                  return (
                    <li key={seriesText(key)} className="flex items-baseline justify-between gap-3 py-1.5">
                      <span className="min-w-0 truncate">
                        {filters ? (
                          <Link href={callsOf({ from: data.from, to: data.to }, filters)}>{seriesText(key)}</Link>
                        ) : (
                          seriesText(key)
                        )}
                      </span>
                      <span className="figures text-ink-2">{total === null ? '—' : words.figure(total)}</span>
                    </li>
                  );
                })}
              </ul>
            )}
            {data.left_out > 0 && <p className="text-ink-3 text-xs">{counted(data.left_out, 'smaller group')} not shown.</p>}
          </>
        )}
      </div>
    </SectionCard>
  );
}

const isDimension = (name: string | undefined): name is Dimension => name !== undefined && (DIMENSIONS as readonly string[]).includes(name);
