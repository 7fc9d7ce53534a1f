'use client';

import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react';
import { AsTableButton, ChartTable, inUnits } from './chart-parts.tsx';
import { cn } from './cn.ts';
import { grouped } from './numbers.ts';
import { type Bucket, clockOf, order, type Series, series } from './time-buckets.ts';
import { useTimeStyle } from './time-style.ts';
import { useHydrated } from './use-hydrated.ts';

export type { Bucket, Series } from './time-buckets.ts';

export type TimeHistogramProps = {
  buckets: readonly Bucket[];
  /** Milliseconds of one bucket. */
  bucketMs: number;
  /** What is counted, in the plural: "calls". */
  unit: string;
  /** A range was dragged, clicked, or chosen with the keyboard: ISO start and end (exclusive). */
  onSelect?: (range: { from: string; to: string }) => void;
  onPickSeries?: (series: Series) => void;
  /** Test data is drawn in muted colours. */
  muted?: boolean;
  height?: number;
};

const totalOf = (bucket: Bucket) => order.reduce((sum, key) => sum + (bucket[key] ?? 0), 0);

/**
 * Calls over time, stacked by class. Drag, or arrows with Shift and then Enter, to choose a range; the table button shows the same numbers
 * as a table.
 */
export function TimeHistogram({ buckets, bucketMs, unit, onSelect, onPickSeries, muted, height = 72 }: TimeHistogramProps) {
  const style = useTimeStyle();
  const inBrowser = useHydrated();
  const [asTable, setAsTable] = useState(false);
  const [range, setRange] = useState<{ anchor: number; head: number }>();
  const [hover, setHover] = useState<number>();
  const plot = useRef<HTMLDivElement>(null);
  const present = order.filter((key) => buckets.some((bucket) => bucket[key]));
  const top = Math.max(1, ...buckets.map(totalOf));

  const indexAt = (event: PointerEvent) => {
    const box = plot.current?.getBoundingClientRect();
    if (!box || box.width === 0) return 0;
    return Math.min(buckets.length - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * buckets.length)));
  };
  const choose = (chosen: { anchor: number; head: number } | undefined) => {
    setRange(undefined);
    if (!chosen) return;
    const from = buckets[Math.min(chosen.anchor, chosen.head)];
    const to = buckets[Math.max(chosen.anchor, chosen.head)];
    if (from && to) onSelect?.({ from: from.at, to: new Date(new Date(to.at).getTime() + bucketMs).toISOString() });
  };
  const key = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step) {
      const head = Math.min(buckets.length - 1, Math.max(0, (range?.head ?? (step === 1 ? -1 : buckets.length)) + step));
      setRange({ anchor: event.shiftKey ? (range?.anchor ?? head) : head, head });
      setHover(head);
    } else if (event.key === 'Enter') choose(range);
    else if (event.key === 'Escape' && range) setRange(undefined);
    else return;
    event.preventDefault();
  };

  const chosen = range && [Math.min(range.anchor, range.head), Math.max(range.anchor, range.head)];
  const shown = hover === undefined ? undefined : buckets[hover];
  return (
    <figure className="flex min-w-0 flex-col gap-1.5">
      <figcaption className="flex min-h-6 flex-wrap items-center gap-x-3 gap-y-1 text-ink-3 text-xs">
        {present.map((name) => (
          <Legend
            key={name}
            name={name}
            total={grouped(buckets.reduce((sum, bucket) => sum + (bucket[name] ?? 0), 0))}
            onPick={onPickSeries}
            muted={muted}
          />
        ))}
        <span aria-live="polite" className="figures ml-auto truncate text-ink-2">
          {shown
            ? `${clockOf(shown.at, bucketMs, style)}: ${inUnits(totalOf(shown), unit)}`
            : present.length === 0
              ? ''
              : `Max ${inUnits(top, unit)} per bar`}
        </span>
        <AsTableButton pressed={asTable} onChange={setAsTable} className="size-6" />
      </figcaption>
      {asTable ? (
        <ChartTable
          caption={`${unit} over time`}
          corner="From"
          columns={present.map((name) => series[name].label)}
          rows={buckets.map((bucket) => ({
            key: bucket.at,
            name: clockOf(bucket.at, bucketMs, style),
            values: present.map((name) => bucket[name] ?? 0),
          }))}
        />
      ) : (
        <>
          {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would bring form semantics into a chart. */}
          <div
            ref={plot}
            role="group"
            aria-label={`${unit} over time. Use arrow keys to select a bar, Shift to extend, Enter to zoom.`}
            // biome-ignore lint/a11y/noNoninteractiveTabindex: the plot is operated by keyboard as well as by dragging.
            tabIndex={0}
            onKeyDown={key}
            onPointerDown={(event) => {
              if (event.button !== 0 || !onSelect) return;
              event.currentTarget.setPointerCapture(event.pointerId);
              setRange({ anchor: indexAt(event), head: indexAt(event) });
            }}
            onPointerMove={(event) => {
              const index = indexAt(event);
              setHover(index);
              if (range && event.currentTarget.hasPointerCapture(event.pointerId)) setRange({ ...range, head: index });
            }}
            onPointerUp={() => choose(range)}
            onPointerCancel={() => setRange(undefined)}
            onPointerLeave={() => setHover(undefined)}
            className={cn(
              'flex touch-pan-y select-none border-line-strong border-b',
              onSelect && 'cursor-crosshair',
              muted && 'saturate-50',
            )}
            style={{ height }}
          >
            {buckets.map((bucket, index) => (
              <div
                key={bucket.at}
                className={cn(
                  'flex h-full min-w-0 flex-1 flex-col-reverse justify-start px-px',
                  chosen && index >= (chosen[0] ?? 0) && index <= (chosen[1] ?? 0) ? 'bg-accent-soft' : hover === index && 'bg-pressed/60',
                )}
              >
                {order.map((name) => {
                  const value = bucket[name] ?? 0;
                  return (
                    value > 0 && (
                      <span
                        key={name}
                        className={cn('keep-fill min-h-px w-full first:rounded-none last:rounded-t-xs', series[name].fill)}
                        style={{ height: `${((value / top) * 100).toString()}%` }}
                      />
                    )
                  );
                })}
              </div>
            ))}
          </div>
          <div aria-hidden className="figures flex justify-between text-2xs text-ink-3">
            {axis(buckets).map((at, index, all) => (
              <span key={at}>{inBrowser ? clockOf(at, bucketMs, style, all[index - 1]) : '\u00a0'}</span>
            ))}
          </div>
        </>
      )}
    </figure>
  );
}

function Legend({
  name,
  total,
  onPick,
  muted,
}: {
  name: Series;
  total: string;
  onPick: TimeHistogramProps['onPickSeries'];
  muted: boolean | undefined;
}) {
  const inner = (
    <>
      <span aria-hidden className={cn('keep-fill size-2 rounded-xs', series[name].fill, muted && 'saturate-50')} />
      {series[name].label} <span className="figures">{total}</span>
    </>
  );
  const look = 'inline-flex items-center gap-1.5';
  if (!onPick) return <span className={look}>{inner}</span>;
  return (
    <button type="button" onClick={() => onPick(name)} className={cn(look, 'min-h-6 rounded-sm hoverable:text-ink')}>
      {inner}
    </button>
  );
}

/** Start, middle and end are enough to read the scale. */
function axis(buckets: readonly Bucket[]): string[] {
  const picks = [0, Math.floor(buckets.length / 2), buckets.length - 1];
  return [...new Set(picks)].flatMap((index) => buckets[index]?.at ?? []);
}
