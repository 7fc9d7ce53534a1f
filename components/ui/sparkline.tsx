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
  const top = Math.max(...values, 1);
  const step = values.length > 1 ? width / (values.length - 1) : width;
  const points = values.map((value, index) => `${(index * step).toFixed(1)},${(height - 1.5 - (value / top) * (height - 3)).toFixed(1)}`);
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
          <polygon
            points={`0,${(height - 1).toString()} ${points.join(' ')} ${width.toString()},${(height - 1).toString()}`}
            fill="currentColor"
            opacity="0.1"
          />
          <polyline
            points={points.join(' ')}
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
