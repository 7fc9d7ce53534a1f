import { cn } from './cn.ts';

/** Grey bars in the place of what is coming. Bars are hidden from screen readers; the label says what is loading. */
export function Skeleton({ lines = 1, label, className }: { lines?: number; label?: string; className?: string }) {
  return (
    <div data-skeleton role={label ? 'status' : undefined} className="flex w-full flex-col gap-2">
      {label && <span className="sr-only">{label}</span>}
      {Array.from({ length: lines }, (_, index) => (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: the bars are all alike.
          key={index}
          aria-hidden
          className={cn(
            'keep-fill block h-3.5 animate-shimmer rounded-xs bg-pressed',
            index > 0 && index === lines - 1 && 'w-3/5',
            className,
          )}
        />
      ))}
    </div>
  );
}
