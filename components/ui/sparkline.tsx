import { cn } from './cn.ts';
import { linePath } from './paths.ts';

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
  const outline = linePath(
    values.map((value, index) => ({ x: (index / (values.length - 1)) * width, y: height - 1.5 - (value / top) * (height - 3) })),
  );
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
          <path
            d={`${outline}L${width.toString()},${(height - 1).toString()}L0,${(height - 1).toString()}Z`}
            fill="currentColor"
            opacity="0.1"
          />
          <path
            d={outline}
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
