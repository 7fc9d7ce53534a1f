import { cn } from '#components/ui/cn.ts';

/** The sally port: the small gate in a wall through which one goes out under guard. */
export function Mark({ className }: { className?: string }) {
  return (
    <svg aria-hidden viewBox="0 0 24 24" className={cn('size-6 shrink-0 text-accent', className)}>
      <path
        fill="currentColor"
        fillRule="evenodd"
        d="M3 4.5a1 1 0 0 1 1-1h2.6a1 1 0 0 1 1 1V6.4h2V4.5a1 1 0 0 1 1-1h2.8a1 1 0 0 1 1 1v1.9h2V4.5a1 1 0 0 1 1-1H20a1 1 0 0 1 1 1v15a1 1 0 0 1-1 1h-4.2v-6.1a3.8 3.8 0 1 0-7.6 0v6.1H4a1 1 0 0 1-1-1z"
      />
    </svg>
  );
}

/** The mark with the name beside it. */
export function Wordmark({ className }: { className?: string }) {
  return (
    <span className={cn('inline-flex items-center gap-2 font-semibold text-base tracking-tight', className)}>
      <Mark className="size-5.5" />
      Sallyport
    </span>
  );
}
