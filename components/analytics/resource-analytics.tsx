'use client';

import { RotateCw } from 'lucide-react';
import { useQueryStates } from 'nuqs';
import { useState } from 'react';
import { spanOf } from '#components/logs/list-search.ts';
import { TimeRange } from '#components/logs/time-range.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { IconButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import type { Dimension, Metric } from '#server/domain/request-logs/analytics/words.shared.ts';
import { AnalyticsOverview } from './analytics-overview.tsx';
import { analyticsSearch, type Of } from './search.ts';

const { range, from, to } = analyticsSearch;
const FIGURES: readonly Metric[] = ['requests', 'error_rate', 'p95', 'overhead_p95'];

type Props = {
  of: Of;
  tops: readonly Dimension[];
  /** In a panel beside a list. */
  narrow?: boolean;
};

/** The analytics of one route, client or API key, with its time range in the address. */
export function ResourceAnalytics({ of, tops, narrow = false }: Props) {
  const forbidden = useForbidden('analytics:read');
  const [span, setSpan] = useQueryStates({ range, from, to });
  const [now, setNow] = useState(() => Date.now());
  if (forbidden) return <Callout title="You can’t see analytics">{forbidden}</Callout>;
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="text-ink-2 text-xs">Each figure is compared with the equally long time before.</p>
        <div className="flex gap-2">
          <IconButton label="Refresh" icon={<RotateCw />} variant="secondary" onClick={() => setNow(Date.now())} />
          <TimeRange search={span} onChange={(change) => void setSpan(change)} span={spanOf(span, now)} />
        </div>
      </div>
      <AnalyticsOverview search={{ ...span, ...of }} now={now} figures={FIGURES} tops={tops} narrow={narrow} />
    </div>
  );
}
