import { cn } from './cn.ts';

export type ProgressProps = {
  label: string;
  done: number;
  of: number;
  /** What the bar says, in words; shown beside or below it by the caller. */
  text: string;
  /** `meter` for how full something is, `progressbar` for how far something has come. */
  role?: 'meter' | 'progressbar';
  tone?: string;
  className?: string;
};

/** A thin bar. It is never empty once something is done, and its text says the same. */
export function Progress({ label, done, of, text, role = 'progressbar', tone = 'bg-accent', className }: ProgressProps) {
  const share = of > 0 ? Math.min(100, (done / of) * 100) : 100;
  return (
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: both roles take a name and a value.
    <div
      role={role}
      aria-label={label}
      aria-valuenow={done}
      aria-valuemin={0}
      aria-valuemax={of}
      aria-valuetext={text}
      className={cn('keep-fill h-1.5 overflow-hidden rounded-full bg-pressed', className)}
    >
      <div className={cn('h-full rounded-full', tone)} style={{ width: `${(done > 0 ? Math.max(2, share) : share).toString()}%` }} />
    </div>
  );
}
