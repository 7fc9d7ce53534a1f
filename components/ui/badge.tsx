import { Ban, CircleAlert, CircleCheck, CircleDashed, CircleDot, Clock, type LucideIcon, TriangleAlert, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { cn } from './cn.ts';

export type Tone = 'neutral' | 'accent' | 'good' | 'warn' | 'bad' | 'note' | 'test';

const tones: Record<Tone, string> = {
  neutral: 'border-line-strong bg-subtle text-ink-2',
  accent: 'border-accent-line bg-accent-soft text-accent-ink',
  good: 'border-good-line bg-good-soft text-good-ink',
  warn: 'border-warn-line bg-warn-soft text-warn-ink',
  bad: 'border-bad-line bg-bad-soft text-bad-ink',
  note: 'border-note-line bg-note-soft text-note-ink',
  test: 'border-test-line bg-test-soft text-test-ink',
};

export type BadgeProps = { tone?: Tone; icon?: ReactNode; mono?: boolean; title?: string; className?: string; children: ReactNode };

/** A small fact about a thing. The words carry the meaning; the colour only repeats it. */
export function Badge({ tone = 'neutral', icon, mono, title, className, children }: BadgeProps) {
  return (
    <span
      title={title}
      className={cn(
        'inline-flex h-5 max-w-full items-center gap-1 whitespace-nowrap rounded-sm border px-1.5 font-medium text-2xs [&_svg]:size-3 [&_svg]:shrink-0',
        mono && 'font-mono font-normal',
        tones[tone],
        className,
      )}
    >
      {icon}
      <span className="truncate">{children}</span>
    </span>
  );
}

export type State = 'ok' | 'off' | 'pending' | 'warning' | 'failing' | 'expired' | 'blocked' | 'live';

const states: Record<State, { icon: LucideIcon; ink: string }> = {
  ok: { icon: CircleCheck, ink: 'text-good-ink' },
  live: { icon: CircleDot, ink: 'text-good-ink' },
  off: { icon: CircleDashed, ink: 'text-ink-3' },
  pending: { icon: Clock, ink: 'text-accent-ink' },
  warning: { icon: TriangleAlert, ink: 'text-warn-ink' },
  failing: { icon: CircleAlert, ink: 'text-bad-ink' },
  expired: { icon: Clock, ink: 'text-bad-ink' },
  blocked: { icon: Ban, ink: 'text-note-ink' },
};

/** State of a thing as icon and word, without a box: for table cells and headers. */
export function Status({ state, className, children }: { state: State; className?: string; children: ReactNode }) {
  const { icon: Icon, ink } = states[state];
  return (
    <span className={cn('inline-flex items-center gap-1.5 whitespace-nowrap', className)}>
      <Icon aria-hidden className={cn('size-3.5 shrink-0', ink)} />
      <span className={state === 'off' ? 'text-ink-3' : undefined}>{children}</span>
    </span>
  );
}

/** The class of an HTTP status; refusals of ours are told apart from the upstream's by `origin`. */
function statusTone(status: number | null | undefined): Tone {
  if (!status) return 'neutral';
  if (status >= 500) return 'bad';
  if (status >= 400) return 'warn';
  return status >= 300 ? 'neutral' : 'good';
}

/** The status of a call, coloured by its class; a dash for a call without an answer. */
export function HttpStatus({ status, className }: { status: number | null | undefined; className?: string }) {
  return (
    <Badge tone={statusTone(status)} mono className={cn('figures', className)}>
      {status ?? '—'}
    </Badge>
  );
}

/** The method in its own width, so that paths after it line up. */
export function Method({ method, className }: { method: string; className?: string }) {
  return <span className={cn('inline-block min-w-13 font-medium font-mono text-2xs text-ink-2', className)}>{method.toUpperCase()}</span>;
}

export type ChipProps = { children: ReactNode; onRemove?: () => void; removeLabel?: string; onClick?: () => void; active?: boolean };

/** A chosen filter value, or a choice that toggles. */
export function Chip({ children, onRemove, removeLabel, onClick, active }: ChipProps) {
  const look = cn(
    'inline-flex h-7 max-w-full items-center rounded-full border text-xs transition-colors',
    active ? 'border-accent-line bg-accent-soft text-accent-ink' : 'border-line-strong bg-surface text-ink-2',
  );
  const inner = <span className="truncate px-2.5">{children}</span>;
  if (onClick) {
    return (
      <button
        type="button"
        aria-pressed={active}
        onClick={onClick}
        className={cn(look, 'hoverable:border-line-control hoverable:text-ink')}
      >
        {inner}
      </button>
    );
  }
  return (
    <span className={look}>
      {inner}
      {onRemove && (
        <button
          type="button"
          aria-label={removeLabel ?? 'Remove'}
          onClick={onRemove}
          className="-ml-1.5 inline-flex size-6 items-center justify-center rounded-full text-ink-3 hoverable:text-ink"
        >
          <X aria-hidden className="size-3" />
        </button>
      )}
    </span>
  );
}
