import { LoaderCircle } from 'lucide-react';
import { cn } from './cn.ts';

/** A turning ring. Give it a label when nothing else says what is being waited for. */
export function Spinner({ label, className }: { label?: string | undefined; className?: string }) {
  return (
    <span className={cn('inline-flex', className)} role={label ? 'status' : undefined}>
      <LoaderCircle aria-hidden className="size-[1em] animate-spin" strokeWidth={2.25} />
      {label && <span className="sr-only">{label}</span>}
    </span>
  );
}
