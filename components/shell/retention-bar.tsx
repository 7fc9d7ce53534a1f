'use client';

import { History, X } from 'lucide-react';
import { useState } from 'react';
import { remember } from '#components/theme/appearance-provider.tsx';
import { IconButton } from '#components/ui/button.tsx';
import { Link } from '#components/ui/link.tsx';
import { Time } from '#components/ui/time.tsx';
import { SHRINKING_COOKIE, type Shrinking, shrinkingMark, shrinkingWords } from './retention-notice.ts';

/**
 * Stands over every page of a workspace in the days between a smaller plan and the deletion it means: what goes, when, and where it can still be
 * exported (interface rules 13 §7, 61 §5). Who has read it can put it away; the next one comes again.
 */
export function RetentionBar({ slug, windows, hidden }: { slug: string; windows: readonly Shrinking[]; hidden: boolean }) {
  const [away, setAway] = useState(hidden);
  const [first] = windows;
  if (!first || away) return null;
  const hide = () => {
    remember(SHRINKING_COOKIE, shrinkingMark(slug, windows));
    setAway(true);
  };
  const page = windows.some(({ kind }) => kind === 'log')
    ? { path: 'logs', label: 'Open logs' }
    : { path: 'audit', label: 'Open audit log' };
  return (
    <div role="status" className="flex items-start gap-2 border-warn-line border-b bg-warn-soft py-1.5 pr-2 pl-4 text-warn-ink text-xs">
      <p className="flex min-w-0 flex-1 flex-wrap items-baseline justify-center gap-x-2 max-sm:justify-start">
        <span className="inline-flex items-center gap-2 font-medium">
          <History aria-hidden className="size-3.5 shrink-0" />
          <span>
            On <Time value={first.ends} format="date" /> older logs are deleted.
          </span>
        </span>
        <span>{shrinkingWords(windows)}</span>
        <span className="flex gap-3">
          <Link className="font-medium underline underline-offset-2" href={`/${slug}/live/${page.path}`}>
            {page.label}
          </Link>
          <Link className="font-medium underline underline-offset-2" href={`/${slug}/settings/usage`}>
            Plan and usage
          </Link>
        </span>
      </p>
      <IconButton size="sm" label="Hide this notice" icon={<X />} onClick={hide} className="-my-1 shrink-0" tooltipSide="bottom" />
    </div>
  );
}
