'use client';

import { usePath } from '#components/trpc/provider.tsx';
import { cn } from '#components/ui/cn.ts';
import { Link } from '#components/ui/link.tsx';
import { grouped, shareOf } from '#components/ui/numbers.ts';
import { Sparkline } from '#components/ui/sparkline.tsx';
import type { Figures } from './use-figures.ts';

/** Calls of a route in the last day with their course, hour by hour. */
export function CallsCell({ figures, id }: { figures: Figures; id: string }) {
  if (figures === undefined) return <span aria-hidden className="keep-fill block h-3.5 w-24 animate-shimmer rounded-xs bg-pressed" />;
  const figure = figures?.get(id);
  if (!figure) return <span className="text-ink-3">—</span>;
  return (
    <span className="inline-flex items-center gap-2">
      <span className="figures min-w-9 text-right">{grouped(figure.calls)}</span>
      {figure.calls > 0 && (
        <Sparkline
          width={56}
          height={18}
          values={figure.calls_by_hour}
          label={`Calls per hour, last 24 hours: ${grouped(figure.calls)} total, peak ${grouped(Math.max(...figure.calls_by_hour))}`}
        />
      )}
    </span>
  );
}

/** The share of calls that failed, as a way to them. */
export function ErrorRateCell({ figures, route }: { figures: Figures; route: { id: string; name: string } }) {
  const path = usePath();
  const figure = figures?.get(route.id);
  if (!figure || figure.calls === 0) return <span className="text-ink-3">{figures === undefined ? '' : '—'}</span>;
  const text = shareOf(figure.errors, figure.calls);
  if (figure.errors === 0) return <span className="figures text-ink-3">{text}</span>;
  return (
    <Link
      href={path(`/logs?route_id=${route.id}`)}
      aria-label={`${route.name}: ${text} of calls failed in the last 24 hours (${grouped(figure.errors)})`}
      className={cn(
        'figures relative z-10 rounded-sm underline-offset-2 hoverable:underline',
        figure.errors / figure.calls >= 0.05 ? 'text-bad-ink' : 'text-warn-ink',
      )}
    >
      {text}
    </Link>
  );
}
