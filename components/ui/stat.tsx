import { ArrowDownRight, ArrowUpRight } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from '#components/ui/link.tsx';
import { cn } from './cn.ts';
import { Sparkline } from './sparkline.tsx';

export type StatProps = {
  label: string;
  /** Formatted with its unit: "12,847", "0.3%", "42 ms". */
  value: ReactNode;
  /** Change against the period before. `good` says which way is better. */
  change?: { text: string; direction: 'up' | 'down'; good: boolean } | undefined;
  trend?: readonly number[];
  /** The filtered list behind the number. */
  href?: string;
  className?: string;
};

/** One figure with its name. Where a change may be told, its place is kept free until it is known. */
export function Stat(props: StatProps) {
  const { label, value, change, trend, href, className } = props;
  const Arrow = change?.direction === 'up' ? ArrowUpRight : ArrowDownRight;
  const body = (
    <>
      <span className="text-ink-3 text-xs">{label}</span>
      <span className="flex items-end justify-between gap-3">
        <span className="figures font-semibold text-xl tracking-tight">{value}</span>
        {trend && <Sparkline values={trend} label={`${label}, trend`} width={72} height={22} className="mb-1" />}
      </span>
      {'change' in props && (
        <span className="figures flex min-h-4.5 items-center gap-1 text-xs">
          {change && (
            <span className={cn('inline-flex items-center gap-0.5', change.good ? 'text-good-ink' : 'text-bad-ink')}>
              <Arrow aria-hidden className="size-3" />
              {change.text}
              <span className="sr-only">{change.good ? ' better' : ' worse'}</span>
            </span>
          )}
        </span>
      )}
    </>
  );
  const look = cn('flex min-w-0 flex-col gap-0.5 rounded-lg border border-line-strong bg-surface px-4 py-3', className);
  return href ? (
    <Link href={href} className={cn(look, 'transition-colors hover:border-line-control')}>
      {body}
    </Link>
  ) : (
    <div className={look}>{body}</div>
  );
}
