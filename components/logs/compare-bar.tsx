import { GitCompareArrows, X } from 'lucide-react';
import { IconButton } from '#components/ui/button.tsx';

/** One call is marked: what to do next. Two are compared at once. */
export function CompareBar({ count, onClear }: { count: number; onClear: () => void }) {
  return (
    <div aria-live="polite" className="pointer-events-none sticky bottom-4 z-30 flex justify-center empty:hidden">
      {count === 1 && (
        <div className="popup-surface pointer-events-auto flex items-center gap-2 py-1.5 pr-1.5 pl-3 text-ink-2">
          <GitCompareArrows aria-hidden className="size-4 text-ink-3" />1 call selected. Select another to compare.
          <IconButton size="sm" label="Clear selection" icon={<X />} onClick={onClear} />
        </div>
      )}
    </div>
  );
}
