'use client';

import { Clock } from 'lucide-react';
import { useState } from 'react';
import { Button } from '#components/ui/button.tsx';
import { Menu } from '#components/ui/dropdown-menu.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { SpanText } from '#components/ui/span-text.tsx';
import { spanStart } from '#server/domain/request-logs/span.shared.ts';

const SpanDialog = lazyOverlay(() => import('#components/ui/span-dialog.tsx').then((module) => module.SpanDialog), whenOpen);

const RANGES = [
  { label: 'Last hour', hours: 1 },
  { label: 'Last 24 hours', hours: 24 },
  { label: 'Last 7 days', hours: 24 * 7 },
  { label: 'Last 30 days', hours: 24 * 30 },
];

type Span = { from: string | null; to: string | null };

/** All of time, a span that begins some time ago, or two moments. */
export function SpanMenu({ from, to, onSpan }: Span & { onSpan: (span: Partial<Span>) => void }) {
  const [asking, setAsking] = useState(false);
  const whole = !from && !to;
  return (
    <>
      <Menu
        trigger={<Button icon={<Clock />}>{whole ? 'All time' : <SpanText from={from} to={to} />}</Button>}
        entries={[
          { label: 'All time', checked: whole, onSelect: () => onSpan({ from: null, to: null }) },
          ...RANGES.map(({ label, hours }) => ({
            label,
            onSelect: () => onSpan({ from: spanStart(Date.now(), hours * 3_600_000).toISOString(), to: null }),
          })),
          'separator',
          { label: 'Custom range…', onSelect: () => setAsking(true) },
        ]}
      />
      <SpanDialog open={asking} onOpenChange={setAsking} span={{ from, to }} onSpan={onSpan} />
    </>
  );
}
