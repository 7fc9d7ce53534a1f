'use client';

import { useMemo } from 'react';
import type { z } from 'zod';
import { SectionCard } from '#components/ui/layout.tsx';
import { grouped, millis } from '#components/ui/numbers.ts';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { type Series, TimeHistogram } from '#components/ui/time-histogram.tsx';
import type { LogStats } from '#server/domain/request-logs/figures.schema.ts';
import { barsOf } from './series.ts';

type Props = {
  stats: z.output<typeof LogStats> | undefined;
  muted: boolean;
  onSelect: (range: { from: string; to: string }) => void;
  onStatus: (status: string | null) => void;
  /** Filters that the minutes of the chart do not know. */
  beyond: readonly string[];
};

const STATUS: Record<Series, string | null> = { ok: '2xx', redirect: '3xx', client_error: '4xx', server_error: '5xx', gone: null };

/** Calls over the span with the figures one asks first. Drag to zoom; a class in the legend filters the list. */
export function CallHistogram({ stats, muted, onSelect, onStatus, beyond }: Props) {
  const bars = useMemo(() => stats && barsOf(stats), [stats]);
  if (!stats || !bars) return <Skeleton lines={4} label="Loading chart" />;
  const { totals, latency } = stats;
  const failing = totals.total === 0 ? 0 : (totals.errors / totals.total) * 100;
  return (
    <SectionCard>
      <div className="flex flex-col gap-2">
        <p className="figures flex flex-wrap gap-x-4 gap-y-1 text-ink-2 text-xs">
          <span>
            <b className="font-semibold text-ink text-sm">{grouped(totals.total)}</b> {totals.total === 1 ? 'call' : 'calls'}
          </span>
          <span>
            <b className="font-semibold text-ink text-sm">{failing.toFixed(failing > 0 && failing < 10 ? 1 : 0)}%</b> failed
          </span>
          {(['p50', 'p95', 'p99'] as const).map((name) => (
            <span key={name}>
              {name} <b className="font-semibold text-ink text-sm">{millis(latency[name])}</b>
            </span>
          ))}
          {totals.rate_limited > 0 && <span>{grouped(totals.rate_limited)} rate limited</span>}
          {totals.trials > 0 && (
            <span title="Listed below, but not counted in metrics">plus {grouped(totals.trials)} from the Test tab, not counted</span>
          )}
        </p>
        <TimeHistogram
          buckets={bars}
          bucketMs={stats.step_seconds * 1_000}
          unit="calls"
          onSelect={onSelect}
          onPickSeries={(series) => onStatus(STATUS[series])}
          muted={muted}
          height={64}
        />
        {beyond.length > 0 && (
          <p className="text-ink-3 text-xs">The chart shows all calls in this period. {beyond.join(', ')} filters the list only.</p>
        )}
      </div>
    </SectionCard>
  );
}
