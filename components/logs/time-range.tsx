'use client';

import { Clock } from 'lucide-react';
import { useState } from 'react';
import { Button } from '#components/ui/button.tsx';
import { DateTimeInput } from '#components/ui/date-time-input.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { Menu } from '#components/ui/dropdown-menu.tsx';
import { Field } from '#components/ui/field.tsx';
import { momentText, useTimeStyle } from '#components/ui/time-style.ts';
import { spanStart } from '#server/domain/request-logs/schema.ts';
import { type LogSearch, RANGES, type RangeName } from './list-search.ts';

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
  const [from, setFrom] = useState<string | null>(search.from);
  const [to, setTo] = useState<string | null>(search.to);
  const own = search.from !== null || search.to !== null;
  return (
    <>
      <Menu
        trigger={<Button icon={<Clock />}>{own ? <OwnSpan from={search.from} to={search.to} /> : WORDS[search.range]}</Button>}
        entries={[
          ...(Object.keys(WORDS) as RangeName[]).map((range) => ({
            label: WORDS[range],
            checked: !own && search.range === range,
            onSelect: () => onChange({ range, from: null, to: null }),
          })),
          'separator',
          {
            label: 'Hold this moment',
            detail: 'The address then names these times: a link to it shows the same calls later',
            disabledReason: search.from !== null && search.to !== null ? 'It stands still already' : undefined,
            onSelect: () => {
              const now = Date.now();
              onChange({ from: span.from ?? spanStart(now, RANGES[search.range] * 60_000).toISOString(), to: new Date(now).toISOString() });
            },
          },
          {
            label: 'From … until …',
            checked: own,
            onSelect: () => {
              setFrom(search.from);
              setTo(search.to);
              setAsking(true);
            },
          },
        ]}
      />
      <Dialog
        open={asking}
        onOpenChange={setAsking}
        title="Span of time"
        footer={
          <>
            <Button onClick={() => setAsking(false)}>Cancel</Button>
            <Button
              variant="primary"
              disabledReason={
                from && to && from >= to ? 'The start must lie before the end' : from || to ? undefined : 'Choose a start or an end'
              }
              onClick={() => {
                onChange({ from, to });
                setAsking(false);
              }}
            >
              Show
            </Button>
          </>
        }
      >
        <Field label="From">
          <DateTimeInput value={from} onChange={setFrom} />
        </Field>
        <Field label="Until" optional hint="Empty: now.">
          <DateTimeInput value={to} onChange={setTo} />
        </Field>
      </Dialog>
    </>
  );
}

function OwnSpan({ from, to }: { from: string | null; to: string | null }) {
  const style = useTimeStyle();
  const text = (at: string | null, none: string) => (at && !Number.isNaN(Date.parse(at)) ? momentText(new Date(at), style) : none);
  return (
    <span suppressHydrationWarning>
      {text(from, '…')} to {text(to, 'now')}
    </span>
  );
}
