'use client';

import { Table2 } from 'lucide-react';
import { IconButton } from './button.tsx';
import { lazyPart } from './lazy.tsx';
import { counted } from './numbers.ts';

/** Shows the numbers of a chart as a table, or the chart again. */
export function AsTableButton({
  pressed,
  onChange,
  className,
}: {
  pressed: boolean;
  onChange: (asTable: boolean) => void;
  className?: string;
}) {
  return (
    <IconButton
      size="sm"
      label={pressed ? 'Show as chart' : 'Show as table'}
      aria-pressed={pressed}
      icon={<Table2 />}
      onClick={() => onChange(!pressed)}
      className={className}
    />
  );
}

/** The numbers of a chart, whose code comes when somebody asks for them. */
export const ChartTable = lazyPart(() => import('./chart-table.tsx').then((module) => module.ChartTable));

/** `unit` is a plural; one of it loses the s. */
export const inUnits = (n: number, unit: string): string => counted(n, unit.replace(/s$/, ''), unit);
