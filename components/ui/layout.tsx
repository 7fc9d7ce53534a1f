import type { ReactNode } from 'react';
import { Link } from '#components/ui/link.tsx';
import { cn } from './cn.ts';
import { Meter } from './meter.tsx';
import { grouped } from './numbers.ts';

export type PageHeaderProps = {
  /** Stands before the title. */
  icon?: ReactNode;
  title: ReactNode;
  /** One line under the title. */
  description?: ReactNode;
  /** Badges and the state beside the title. */
  badges?: ReactNode;
  /** "8 of 50 routes"; the meter shows from 80 % on. */
  usage?: { used: number; limit: number | null; noun: string } | undefined;
  actions?: ReactNode;
  /** The link back to the list on detail pages. */
  back?: { href: string; label: string };
  children?: ReactNode;
};

/** The top of a page: what it is, how much of it there is, and what can be done. */
export function PageHeader({ icon, title, description, badges, usage, actions, back, children }: PageHeaderProps) {
  return (
    <header className="flex flex-col gap-3">
      {back && (
        <Link href={back.href} className="-my-1 inline-flex min-h-6 w-fit items-center rounded-sm text-ink-3 text-xs hover:text-ink">
          ← {back.label}
        </Link>
      )}
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <div className="min-w-0">
          <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
            <span className="flex min-w-0 items-center gap-2.5">
              {icon}
              <h1 className="min-w-0 font-semibold text-xl [overflow-wrap:anywhere]">{title}</h1>
            </span>
            {badges}
            {usage && <Usage {...usage} />}
          </div>
          {description && <p className="mt-0.5 max-w-2xl text-pretty text-ink-2">{description}</p>}
        </div>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </div>
      {children}
    </header>
  );
}

function Usage({ used, limit, noun }: { used: number; limit: number | null; noun: string }) {
  const text = limit === null ? `${grouped(used)} ${noun}` : `${grouped(used)} of ${grouped(limit)} ${noun}`;
  if (limit === null || used < limit * 0.8) return <span className="figures text-ink-3">{text}</span>;
  return (
    <span className="flex items-center gap-2">
      <span className="figures text-ink-2">{text}</span>
      <Meter value={used} max={limit} label={text} className="w-20" bare />
    </span>
  );
}

/** Links inside text: coloured and underlined on hover; underlined always where colour alone would mark them. */
export const textLink = 'rounded-xs text-accent-ink underline decoration-accent-line underline-offset-2 hover:decoration-current';

/** The body of a page: one column with even gaps, at most 1,440 px wide. */
export const Page = ({ children, className }: { children: ReactNode; className?: string }) => (
  <div className="mx-auto w-full max-w-360 px-4 py-5 sm:px-6 sm:py-6 lg:px-8">
    {/* A narrower page keeps the left edge of the others: titles must not jump sideways from page to page. */}
    <div className={cn('flex w-full flex-col gap-5', className)}>{children}</div>
  </div>
);

/** Main column and a narrower one beside it from the `lg` breakpoint on; below, the side follows the main column. */
export const Split = ({ children, side }: { children: ReactNode; side: ReactNode }) => (
  <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]">
    <div className="flex min-w-0 flex-col gap-4">{children}</div>
    <div className="flex min-w-0 flex-col gap-4">{side}</div>
  </div>
);

export type SectionCardProps = {
  title?: ReactNode;
  description?: ReactNode;
  actions?: ReactNode;
  footer?: ReactNode;
  /** The content reaches the edges (tables, lists). */
  flush?: boolean;
  tone?: 'plain' | 'danger';
  className?: string;
  children?: ReactNode;
};

/** A part of a page in a frame of its own. */
export function SectionCard({ title, description, actions, footer, flush, tone = 'plain', className, children }: SectionCardProps) {
  return (
    <section
      className={cn('min-w-0 rounded-lg border bg-surface', tone === 'danger' ? 'border-bad-line' : 'border-line-strong', className)}
    >
      {(title ?? actions) && (
        <div className={cn('flex flex-wrap items-start justify-between gap-x-4 gap-y-2 px-4 pt-3.5', flush && 'border-line border-b pb-3')}>
          <div className="min-w-0">
            {title && <h2 className="font-semibold text-base">{title}</h2>}
            {description && <p className="mt-0.5 max-w-2xl text-pretty text-ink-2">{description}</p>}
          </div>
          {actions && <div className="flex items-center gap-2">{actions}</div>}
        </div>
      )}
      {children && <div className={cn(!flush && 'p-4', !flush && title && 'pt-3')}>{children}</div>}
      {footer && (
        <div className="flex flex-wrap items-center justify-end gap-2 rounded-b-lg border-line border-t bg-subtle px-4 py-2.5">
          {footer}
        </div>
      )}
    </section>
  );
}
