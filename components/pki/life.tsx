import { cn } from '#components/ui/cn.ts';
import { Progress } from '#components/ui/progress.tsx';
import { lifeOf } from './pki-labels.ts';

type Props = { of: { not_before: string; not_after: string }; label: string; className?: string };

/** How much of a certificate's lifetime has passed, as a bar, and what is left in words. */
export function Life({ of, label, className }: Props) {
  const { passed, whole, words, soon, days } = lifeOf(of);
  return (
    <div className={cn('flex flex-col gap-1', className)}>
      <span className="whitespace-nowrap text-xs">{words}</span>
      <Progress
        role="meter"
        label={label}
        done={passed}
        of={whole}
        text={words}
        tone={days < 0 ? 'bg-bad' : soon ? 'bg-warn' : 'bg-accent'}
      />
    </div>
  );
}
