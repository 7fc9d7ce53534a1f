'use client';

import { Clock } from 'lucide-react';
import { useState } from 'react';
import { Button } from '#components/ui/button.tsx';
import { Menu } from '#components/ui/dropdown-menu.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { SpanText } from '#components/ui/span-text.tsx';
import { spanStart } from '#server/domain/request-logs/span.shared.ts';
import { type LogSearch, RANGES, type RangeName } from './list-search.ts';

const SpanDialog = lazyOverlay(() => import('#components/ui/span-dialog.tsx').then((module) => module.SpanDialog), whenOpen);

const WORDS: Record<RangeName, string> = {
  '15m': 'Last 15 minutes',
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
};

type Props = {
  search: Pick<LogSearch, 'range' | 'from' | 'to'>;
  onChange: (change: Partial<LogSearch>) => void;
  /** The span as it stands now, for holding it still. */
  span: { from?: string; to?: string };
};

/** A span that ends now, or two moments; in the address either way. */
export function TimeRange({ search, onChange, span }: Props) {
  const [asking, setAsking] = useState(false);
  const own = search.from !== null || search.to !== null;
  return (
    <>
      <Menu
        trigger={<Button icon={<Clock />}>{own ? <SpanText from={search.from} to={search.to} /> : WORDS[search.range]}</Button>}
        entries={[
          ...(Object.keys(WORDS) as RangeName[]).map((range) => ({
            label: WORDS[range],
            checked: !own && search.range === range,
            onSelect: () => onChange({ range, from: null, to: null }),
          })),
          'separator',
          {
            label: 'Freeze time range',
            detail: 'Share a link that always shows these calls',
            disabledReason: search.from !== null && search.to !== null ? 'The time range is already frozen.' : undefined,
            onSelect: () => {
              const now = Date.now();
              onChange({ from: span.from ?? spanStart(now, RANGES[search.range] * 60_000).toISOString(), to: new Date(now).toISOString() });
            },
          },
          {
            label: 'Custom range…',
            checked: own,
            onSelect: () => setAsking(true),
          },
        ]}
      />
      <SpanDialog open={asking} onOpenChange={setAsking} span={{ from: search.from, to: search.to }} onSpan={onChange} />
    </>
  );
}
