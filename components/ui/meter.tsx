import { cn } from './cn.ts';
import { Progress } from './progress.tsx';

export type MeterProps = {
  value: number;
  max: number;
  label: string;
  /** Text at the end of the label line; the default is the percentage. */
  detail?: string;
  /** Only the bar; the label is still read out. */
  bare?: boolean;
  className?: string;
};

/** How much of a limit is used. From 80 % it turns amber, from 100 % red, and says so in words. */
export function Meter({ value, max, label, detail, bare, className }: MeterProps) {
  const share = max > 0 ? value / max : 1;
  const tone = share >= 1 ? 'bg-bad' : share >= 0.8 ? 'bg-warn' : 'bg-accent';
  const words = share >= 1 ? 'limit reached' : share >= 0.8 ? 'close to the limit' : '';
  const percent = `${Math.round(share * 100).toString()}%`;
  return (
    <div className={cn('flex flex-col gap-1.5', className)}>
      {!bare && (
        <div className="flex flex-wrap items-baseline justify-between gap-x-3 text-xs">
          <span className="text-ink-2">{label}</span>
          <span className="figures text-ink-3">{[detail ?? percent, words].filter(Boolean).join(', ')}</span>
        </div>
      )}
      <Progress role="meter" label={label} done={value} of={max} text={[percent, words].filter(Boolean).join(', ')} tone={tone} />
    </div>
  );
}
