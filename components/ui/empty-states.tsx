import { CircleAlert, RotateCw, SearchX } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { cn } from './cn.ts';
import type { Snippet } from './code-block.tsx';
import { CopyText } from './copy.tsx';
import { lazyTab } from './lazy.tsx';

const CodeBlock = lazyTab(() => import('./code-block.tsx').then((module) => module.CodeBlock));

export type EmptyStateProps = {
  icon?: ReactNode;
  /** What the list is for, as a title of a few words. */
  title: ReactNode;
  /** One sentence. */
  children: ReactNode;
  /** The one primary action. */
  action?: ReactNode;
  /** A command to copy, with the person's real host in it. */
  command?: readonly [Snippet, ...Snippet[]];
  /** One link to the documentation. */
  link?: ReactNode;
  className?: string;
};

/** The first time: says what this is and offers the way to begin. */
export function EmptyState({ icon, title, children, action, command, link, className }: EmptyStateProps) {
  return (
    <section
      className={cn(
        'flex flex-col items-center rounded-lg border border-line-strong bg-surface px-5 py-10 text-center sm:py-14',
        className,
      )}
    >
      {icon && (
        <span className="mb-3 inline-flex size-9 items-center justify-center rounded-lg border border-line-strong bg-subtle text-ink-2 [&_svg]:size-4.5">
          {icon}
        </span>
      )}
      <h2 className="font-semibold text-base">{title}</h2>
      <p className="mt-1 max-w-md text-ink-2">{children}</p>
      {(action ?? link) && (
        <div className="mt-4 flex flex-wrap items-center justify-center gap-x-4 gap-y-2">
          {action}
          {link}
        </div>
      )}
      {command && <CodeBlock snippets={command} className="mt-6 w-full max-w-xl text-left" />}
    </section>
  );
}

/** Filters that leave nothing over: names them and offers to clear. */
export function NoResults({ filters, onClear, noun }: { filters: readonly string[]; onClear: () => void; noun: string }) {
  return (
    <section className="flex flex-col items-center rounded-lg border border-line-strong bg-surface px-5 py-10 text-center">
      <SearchX aria-hidden className="mb-2 size-5 text-ink-3" />
      <h2 className="font-semibold text-base">No {noun} match</h2>
      <p className="mt-1 max-w-md text-ink-2 [overflow-wrap:anywhere]">{filters.join(', ')}</p>
      <Button className="mt-4" onClick={onClear}>
        Clear filters
      </Button>
    </section>
  );
}

export type ErrorCardProps = {
  /** What went wrong, in words. */
  title: ReactNode;
  /** What to do now. */
  next?: ReactNode;
  requestId?: string | undefined;
  onRetry?: () => void;
  retrying?: boolean;
  actions?: ReactNode;
  className?: string;
};

/** A part of the page that could not be shown. It stands where the part would stand and leaves the rest alone. */
export function ErrorCard({ title, next, requestId, onRetry, retrying, actions, className }: ErrorCardProps) {
  return (
    <section role="alert" className={cn('flex flex-col items-start gap-2 rounded-lg border border-bad-line bg-surface p-4', className)}>
      <p className="flex items-start gap-2 font-medium">
        <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad-ink" />
        <span className="min-w-0 [overflow-wrap:anywhere]">{title}</span>
      </p>
      {next && <p className="text-ink-2">{next}</p>}
      {requestId && (
        <p className="flex flex-wrap items-center gap-x-1.5 text-ink-3 text-xs">
          Request <CopyText value={requestId} label="request ID" />
        </p>
      )}
      {(onRetry ?? actions) && (
        <div className="mt-1 flex flex-wrap gap-2">
          {onRetry && (
            <Button size="sm" icon={<RotateCw />} loading={retrying} onClick={onRetry}>
              Try again
            </Button>
          )}
          {actions}
        </div>
      )}
    </section>
  );
}
