import { area, line } from 'd3-shape';
import { cn } from './cn.ts';

export type SparklineProps = {
  values: readonly number[];
  /** Says in words what the line shows: "Calls per hour, last day: 1,204 in total". */
  label: string;
  width?: number;
  height?: number;
  className?: string;
};

/** A small trend with a zero line. The sentence in the label is its table twin. */
export function Sparkline({ values, label, width = 96, height = 24, className }: SparklineProps) {
  // Two divisions, and not d3-scale: it would add 10 KB to every page that has a sparkline.
  const top = Math.max(...values, 1);
  const x = (_: number, index: number) => (index / (values.length - 1)) * width;
  const y = (value: number) => height - 1.5 - (value / top) * (height - 3);
  const outline = line(x, y).digits(1);
  const filled = area(x, height - 1, y).digits(1);
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${width.toString()} ${height.toString()}`}
      preserveAspectRatio="none"
      width={width}
      height={height}
      className={cn('block overflow-visible text-accent', className)}
    >
      <line
        x1="0"
        x2={width}
        y1={height - 0.5}
        y2={height - 0.5}
        stroke="var(--line-strong)"
        strokeWidth="1"
        vectorEffect="non-scaling-stroke"
      />
      {values.length > 1 && (
        <>
          <path d={filled([...values]) ?? ''} fill="currentColor" opacity="0.1" />
          <path
            d={outline([...values]) ?? ''}
            fill="none"
            stroke="currentColor"
            strokeWidth="1.5"
            strokeLinejoin="round"
            strokeLinecap="round"
            vectorEffect="non-scaling-stroke"
          />
        </>
      )}
    </svg>
  );
}
