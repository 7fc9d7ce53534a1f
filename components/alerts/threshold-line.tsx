'use client';

import { cn } from '#components/ui/cn.ts';
import { linePath } from '#components/ui/paths.ts';

type ThresholdLineProps = {
  /** Oldest first; null where there was nothing to measure. */
  values: readonly (number | null)[];
  threshold: number;
  /** Says in words what the line shows. */
  label: string;
  width?: number;
  height?: number;
  className?: string;
};

/** A trend with its threshold as a dashed line. Where nothing was measured the line has a gap. */
export function ThresholdLine({ values, threshold, label, width = 120, height = 28, className }: ThresholdLineProps) {
  const top = Math.max(...values.map((value) => value ?? 0), threshold, 1) * 1.1;
  const y = (value: number) => height - 1.5 - (value / top) * (height - 3);
  const x = (index: number) => (index / Math.max(1, values.length - 1)) * width;
  const path = linePath(values.map((value, index) => (value === null ? null : { x: x(index), y: y(value) })));
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      width={width}
      height={height}
      className={cn('block overflow-visible', className)}
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
      <line
        x1="0"
        x2={width}
        y1={y(threshold)}
        y2={y(threshold)}
        className="text-bad-ink"
        stroke="currentColor"
        strokeWidth="1"
        strokeDasharray="4 3"
        vectorEffect="non-scaling-stroke"
      />
      <path
        d={path}
        fill="none"
        className="text-accent"
        stroke="currentColor"
        strokeWidth="1.5"
        strokeLinejoin="round"
        strokeLinecap="round"
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
}
