'use client';

import { type KeyboardEvent, type PointerEvent, useId, useRef, useState } from 'react';
import { AsTableButton, ChartTable } from '#components/ui/chart-parts.tsx';
import { linePath } from '#components/ui/paths.ts';
import { countScale } from '#components/ui/scale.ts';
import { clockOf } from '#components/ui/time-buckets.ts';
import { useTimeStyle } from '#components/ui/time-style.ts';
import { useHydrated } from '#components/ui/use-hydrated.ts';

export type Line = { label: string; points: readonly (number | null)[] };
export type Mark = { at: string; text: string };

export type LineChartProps = {
  /** Of the figure: "Calls". */
  label: string;
  /** When each point begins, ISO. */
  times: readonly string[];
  stepMs: number;
  lines: readonly Line[];
  marks?: readonly Mark[];
  figure: (value: number) => string;
  short: (value: number) => string;
  /** A point was clicked, or chosen with the arrow keys and Enter. */
  onPick?: (span: { from: string; to: string }, line: number | undefined) => void;
  height?: number;
};

/** Colour and dashes, so that lines are told apart without the colour. */
const LOOKS = ['accent', 'good', 'warn', 'bad', 'note', 'ink-3'].flatMap((ink, i) => [
  { stroke: `var(--${ink})`, dash: undefined, order: i },
  { stroke: `var(--${ink})`, dash: '5 3', order: i + 6 },
]);
const INKS = [...LOOKS].sort((a, b) => a.order - b.order);
const WIDTH = 600;

/** Figures over time, a line each. Arrow keys walk the times and read them out, Enter opens one; the table button shows the same numbers as a table. */
export function LineChart({ label, times, stepMs, lines, marks = [], figure, short, onPick, height = 220 }: LineChartProps) {
  const style = useTimeStyle();
  const inBrowser = useHydrated();
  const told = useId();
  const [asTable, setAsTable] = useState(false);
  const [at, setAt] = useState<number>();
  const plot = useRef<HTMLDivElement>(null);
  const scale = countScale(lines.flatMap(({ points }) => points.filter((value) => value !== null)));
  const { top } = scale;
  const x = (index: number) => ((index + 0.5) / Math.max(1, times.length)) * WIDTH;
  const y = (value: number) => height - (scale.of(value) / 100) * (height - 6);
  const path = (points: Line['points']) => linePath(points.map((value, index) => (value === null ? null : { x: x(index), y: y(value) })));
  const spanAt = (index: number) => ({
    from: times[index] ?? '',
    to: new Date(Date.parse(times[index] ?? '') + stepMs).toISOString(),
  });
  const indexAt = (event: PointerEvent) => {
    const box = plot.current?.getBoundingClientRect();
    return box && box.width > 0
      ? Math.min(times.length - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * times.length)))
      : 0;
  };
  const key = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const edge = { Home: 0, End: times.length - 1 }[event.key];
    if (step) setAt(Math.min(times.length - 1, Math.max(0, (at ?? (step === 1 ? -1 : times.length)) + step)));
    else if (edge !== undefined) setAt(edge);
    else if (event.key === 'Enter' && at !== undefined) onPick?.(spanAt(at), lines.length === 1 ? 0 : undefined);
    else return;
    event.preventDefault();
  };
  const clock = (time: string, before?: string) => (inBrowser ? clockOf(time, stepMs, style, before) : '\u00a0');
  const first = Date.parse(times[0] ?? '');
  return (
    <figure className="flex min-w-0 flex-col gap-2">
      <figcaption className="flex flex-wrap items-center gap-x-4 gap-y-1 text-ink-2 text-xs">
        {lines.length > 1 &&
          lines.map(({ label: name }, i) => (
            <span key={name} className="inline-flex min-w-0 items-center gap-1.5">
              <svg aria-hidden width="18" height="8" className="shrink-0">
                <line x1="0" x2="18" y1="4" y2="4" strokeWidth="2" stroke={lookOf(i).stroke} strokeDasharray={lookOf(i).dash} />
              </svg>
              <span className="max-w-56 truncate">{name}</span>
            </span>
          ))}
        <AsTableButton pressed={asTable} onChange={setAsTable} className="ml-auto size-6" />
      </figcaption>
      {asTable ? (
        <ChartTable
          caption={`${label} over time`}
          corner="From"
          figure={figure}
          columns={lines.map((one) => one.label)}
          rows={times.map((time, i) => ({ key: time, name: clock(time), values: lines.map(({ points }) => points[i] ?? 0) }))}
        />
      ) : (
        <>
          <p id={told} aria-live="polite" className="figures min-h-4.5 text-ink-2 text-xs">
            {at !== undefined && (
              <>
                <b className="font-semibold text-ink">{clock(times[at] ?? '')}</b>:{' '}
                {lines
                  .flatMap(({ label: name, points }) => {
                    const value = points[at];
                    return value === null || value === undefined ? [] : [lines.length > 1 ? `${name} ${figure(value)}` : figure(value)];
                  })
                  .join(', ') || 'no calls'}
              </>
            )}
          </p>
          <div className="flex gap-2">
            <div
              aria-hidden
              className="figures flex min-w-11 shrink-0 flex-col justify-between text-right text-2xs text-ink-3"
              style={{ height }}
            >
              <span>{short(top)}</span>
              <span>{short(top / 2)}</span>
              <span>{short(0)}</span>
            </div>
            {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would bring form semantics into a chart. */}
            <div
              ref={plot}
              role="group"
              aria-label={`${label} over time. Use arrow keys to move${onPick ? ' and Enter to list the calls' : ''}.`}
              aria-describedby={told}
              // biome-ignore lint/a11y/noNoninteractiveTabindex: the times are walked with the keyboard as well as pointed at.
              tabIndex={0}
              onKeyDown={key}
              onPointerMove={(event) => setAt(indexAt(event))}
              onPointerLeave={() => setAt(undefined)}
              onBlur={() => setAt(undefined)}
              onClick={() => at !== undefined && onPick?.(spanAt(at), lines.length === 1 ? 0 : undefined)}
              className={`relative min-w-0 flex-1 border-line-strong border-b bg-[linear-gradient(var(--line)_1px,transparent_1px)] bg-size-[100%_50%] ${onPick ? 'cursor-pointer' : ''}`}
              style={{ height }}
            >
              <svg
                aria-hidden
                viewBox={`0 0 ${WIDTH.toString()} ${height.toString()}`}
                preserveAspectRatio="none"
                className="absolute inset-0 size-full overflow-visible"
              >
                {marks.map(({ at: time, text }) => {
                  const place = ((Date.parse(time) - first) / (stepMs * times.length)) * WIDTH;
                  return (
                    <line
                      key={time + text}
                      x1={place}
                      x2={place}
                      y1="0"
                      y2={height}
                      stroke="var(--line-control)"
                      strokeDasharray="2 3"
                      vectorEffect="non-scaling-stroke"
                    >
                      <title>{text}</title>
                    </line>
                  );
                })}
                {at !== undefined && (
                  <rect
                    x={(at / times.length) * WIDTH}
                    y="0"
                    width={WIDTH / times.length}
                    height={height}
                    fill="var(--pressed)"
                    opacity="0.7"
                  />
                )}
                {lines.map(({ label: name, points }, i) => (
                  <g key={name}>
                    <path
                      d={path(points)}
                      fill="none"
                      strokeWidth="1.75"
                      stroke={lookOf(i).stroke}
                      strokeDasharray={lookOf(i).dash}
                      strokeLinejoin="round"
                      strokeLinecap="round"
                      vectorEffect="non-scaling-stroke"
                    />
                    {alone(points).map((index) => (
                      <line
                        key={index}
                        x1={x(index)}
                        x2={x(index)}
                        y1={y(points[index] ?? 0)}
                        y2={y(points[index] ?? 0)}
                        strokeWidth="5"
                        strokeLinecap="round"
                        stroke={lookOf(i).stroke}
                        vectorEffect="non-scaling-stroke"
                      />
                    ))}
                  </g>
                ))}
              </svg>
            </div>
          </div>
          <div aria-hidden className="figures flex justify-between pl-13 text-2xs text-ink-3">
            {[...new Set([0, Math.floor((times.length - 1) / 2), times.length - 1])].map((index, i, all) => (
              <span key={index}>{clock(times[index] ?? '', i > 0 ? times[all[i - 1] ?? 0] : undefined)}</span>
            ))}
          </div>
        </>
      )}
    </figure>
  );
}

const lookOf = (index: number) => INKS[index % INKS.length] ?? { stroke: 'var(--accent)', dash: undefined };

/** Points without a neighbour, of which no line is drawn. */
const alone = (points: readonly (number | null)[]): number[] =>
  points.flatMap((value, i) => (value !== null && (points[i - 1] ?? null) === null && (points[i + 1] ?? null) === null ? [i] : []));
