import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { cn } from './cn.ts';
import { CopyText } from './copy.tsx';

const looks = {
  info: { icon: Info, box: 'border-line-strong bg-subtle', ink: 'text-ink-2' },
  good: { icon: CircleCheck, box: 'border-good-line bg-good-soft', ink: 'text-good-ink' },
  warn: { icon: TriangleAlert, box: 'border-warn-line bg-warn-soft', ink: 'text-warn-ink' },
  bad: { icon: CircleAlert, box: 'border-bad-line bg-bad-soft', ink: 'text-bad-ink' },
} as const;

export type CalloutProps = {
  tone?: keyof typeof looks;
  title: ReactNode;
  children?: ReactNode;
  actions?: ReactNode;
  requestId?: string | undefined;
  className?: string;
};

/** A statement that stays: what is wrong, limited or worth knowing, where it matters. */
export function Callout({ tone = 'info', title, children, actions, requestId, className }: CalloutProps) {
  const { icon: Icon, box, ink } = looks[tone];
  return (
    <div role={tone === 'bad' ? 'alert' : undefined} className={cn('flex gap-2.5 rounded-lg border px-3 py-2.5', box, className)}>
      <Icon aria-hidden className={cn('mt-0.5 size-4 shrink-0', ink)} />
      <div className="flex min-w-0 flex-1 flex-col gap-1">
        <p className={cn('[overflow-wrap:anywhere]', children ? 'font-medium' : '', tone === 'info' ? 'text-ink' : ink)}>{title}</p>
        {children && <div className="text-ink-2">{children}</div>}
        {requestId && (
          <p className="flex flex-wrap items-center gap-x-1.5 text-ink-3 text-xs">
            Request <CopyText value={requestId} label="request ID" />
          </p>
        )}
        {actions && <div className="mt-1.5 flex flex-wrap gap-2">{actions}</div>}
      </div>
    </div>
  );
}
