'use client';

import { type CSSProperties, type KeyboardEvent, useState } from 'react';
import { AsTableButton, ChartTable, inUnits } from './chart-parts.tsx';
import { cn } from './cn.ts';
import { grouped, short } from './numbers.ts';
import { countScale } from './scale.ts';

export type DayBarsProps = {
  /** Days in UTC as ISO dates, oldest first. */
  days: readonly string[];
  /** Bottom of the stack first; a figure for each day. At most six can be told apart. */
  series: readonly { label: string; values: readonly number[] }[];
  /** What is counted, in the plural: "calls". */
  unit: string;
  /** How a figure is written, when it isn't a count. */
  figure?: (value: number) => string;
  /** A day was clicked, or chosen with the arrow keys and Enter. */
  onPick?: (day: string) => void;
  height?: number;
};

/** Each series has a pattern of its own besides its colour, so that they are told apart without it. */
const striped = (angle: number, ink: string, wide = 3) =>
  `repeating-linear-gradient(${angle.toString()}deg, var(--${ink}) 0 ${wide.toString()}px, var(--surface) ${wide.toString()}px ${(wide + 2).toString()}px)`;
const LOOKS: readonly CSSProperties[] = [
  { background: 'var(--accent)' },
  { background: striped(45, 'note') },
  { background: striped(0, 'good', 2) },
  { background: striped(135, 'warn') },
  { background: striped(90, 'accent', 2) },
  { background: 'var(--line-control)' },
];
const lookOf = (index: number, count: number): CSSProperties =>
  (index === count - 1 && count > 1 ? LOOKS.at(-1) : LOOKS[index % LOOKS.length]) ?? {};

/** Figures by day, stacked. Arrow keys walk the days and read them out, Enter opens one; the table button shows the same numbers as a table. */
export function DayBars({ days, series, unit, figure, onPick, height = 140 }: DayBarsProps) {
  const written = figure ?? grouped;
  const [asTable, setAsTable] = useState(false);
  const [at, setAt] = useState<number>();
  const totals = days.map((_, i) => series.reduce((sum, { values }) => sum + (values[i] ?? 0), 0));
  const y = countScale(totals);
  const { top } = y;
  const key = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const edge = { Home: 0, End: days.length - 1 }[event.key];
    const day = at === undefined ? undefined : days[at];
    if (step) setAt(Math.min(days.length - 1, Math.max(0, (at ?? (step === 1 ? -1 : days.length)) + step)));
    else if (edge !== undefined) setAt(edge);
    else if (event.key === 'Enter' && day !== undefined) onPick?.(day);
    else return;
    event.preventDefault();
  };
  const told = at === undefined ? undefined : { day: days[at], total: totals[at], index: at };
  return (
    <figure className="flex min-w-0 flex-col gap-2">
      <figcaption className="flex flex-wrap items-center gap-x-4 gap-y-1 text-ink-2 text-xs">
        {series.map(({ label, values }, index) => (
          <span key={label} className="inline-flex min-w-0 items-center gap-1.5">
            <span
              aria-hidden
              className="keep-fill size-3 shrink-0 rounded-xs border border-line-strong"
              style={lookOf(index, series.length)}
            />
            <span className="max-w-56 truncate">{label}</span>
            <span className="figures text-ink-3">{written(values.reduce((a, b) => a + b, 0))}</span>
          </span>
        ))}
        <AsTableButton pressed={asTable} onChange={setAsTable} className="ml-auto size-6" />
      </figcaption>
      {asTable ? (
        <ChartTable
          caption={`${unit} by day`}
          corner="Day (UTC)"
          figure={written}
          columns={[...series.map(({ label }) => label), ...(series.length > 1 ? ['Total'] : [])]}
          rows={days.map((day, index) => ({
            key: day,
            name: dayOf(day),
            values: [...series.map(({ values }) => values[index] ?? 0), totals[index] ?? 0],
          }))}
        />
      ) : (
        <>
          <p aria-live="polite" className="figures min-h-4.5 text-ink-2 text-xs">
            {told?.day !== undefined && (
              <>
                <b className="font-semibold text-ink">{dayOf(told.day)}</b>:{' '}
                {figure ? figure(told.total ?? 0) : inUnits(told.total ?? 0, unit)}
                {series.length > 1 &&
                  (told.total ?? 0) > 0 &&
                  ` (${series
                    .flatMap(({ label, values }) => (values[told.index] ? [`${label} ${written(values[told.index] ?? 0)}`] : []))
                    .join(', ')})`}
              </>
            )}
          </p>
          <div className="flex gap-2">
            <div
              aria-hidden
              className="figures flex min-w-9 shrink-0 flex-col justify-between text-right text-2xs text-ink-3"
              style={{ height }}
            >
              <span>{(figure ?? short)(top)}</span>
              <span>{(figure ?? short)(top / 2)}</span>
              <span>0</span>
            </div>
            {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would bring form semantics into a chart. */}
            <div
              role="group"
              aria-label={`${unit} by day. Use arrow keys to move between days${onPick ? ' and Enter to open one' : ''}.`}
              // biome-ignore lint/a11y/noNoninteractiveTabindex: the days are walked with the keyboard as well as pointed at.
              tabIndex={0}
              onKeyDown={key}
              onPointerLeave={() => setAt(undefined)}
              onBlur={() => setAt(undefined)}
              className="flex min-w-0 flex-1 border-line-strong border-b bg-[linear-gradient(var(--line)_1px,transparent_1px)] bg-size-[100%_50%]"
              style={{ height }}
            >
              {days.map((day, index) => (
                // biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: the keyboard's way is the group's.
                <div
                  key={day}
                  onPointerEnter={() => setAt(index)}
                  onClick={() => onPick?.(day)}
                  className={cn(
                    'flex h-full min-w-0 flex-1 flex-col-reverse px-px sm:px-0.5',
                    onPick && 'cursor-pointer',
                    index === at && 'bg-pressed/70',
                  )}
                >
                  {series.map(({ label, values }, one) => {
                    const value = values[index] ?? 0;
                    return (
                      value > 0 && (
                        <span
                          key={label}
                          className="keep-fill min-h-px w-full last:rounded-t-xs"
                          style={{ ...lookOf(one, series.length), height: `${y.of(value).toString()}%` }}
                        />
                      )
                    );
                  })}
                </div>
              ))}
            </div>
          </div>
          <div aria-hidden className="figures flex justify-between pl-11 text-2xs text-ink-3">
            {[...new Set([0, Math.floor((days.length - 1) / 2), days.length - 1])].map((index) => (
              <span key={index}>{dayOf(days[index] ?? '')}</span>
            ))}
          </div>
        </>
      )}
    </figure>
  );
}

const dayOf = (day: string) =>
  day && new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' }).format(new Date(`${day}T00:00:00Z`));
