'use client';

import { useQuery } from '@tanstack/react-query';
import type { inferRouterOutputs } from '@trpc/server';
import { usePathname, useSearchParams } from 'next/navigation';
import { useEffect, useRef } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import type { ColumnChoice } from '#components/ui/columns.tsx';
import type { AppRouter } from '#server/trpc/root.ts';
import { isShown, viewQuery } from './view-query.ts';

export type View = inferRouterOutputs<AppRouter>['views']['list']['data'][number];
const NO_COLUMNS: ReadonlySet<string> = new Set();

/** The views of a list page and the one it stands in. */
export function useViews(page: string, columns: ColumnChoice | undefined) {
  const trpc = useTRPC();
  const pathname = usePathname();
  const query = viewQuery(useSearchParams().toString());
  const hidden = columns?.hidden ?? NO_COLUMNS;
  const list = useQuery({ ...trpc.views.list.queryOptions({ page }), staleTime: 60_000 });
  const views = list.data?.data;

  const show = (view: Pick<View, 'query' | 'columns'>, how: 'pushState' | 'replaceState' = 'pushState') => {
    columns?.hide(view.columns);
    const to = viewQuery(view.query);
    window.history[how](null, '', to ? `${pathname}?${to}` : pathname);
  };
  const greeted = useRef(false);
  const latestShow = useRef(show);
  useEffect(() => {
    latestShow.current = show;
  });
  // A bare address opens in the person's default view, once: clearing the filters afterwards stays cleared.
  useEffect(() => {
    if (!views || greeted.current) return;
    greeted.current = true;
    const preferred = views.find((view) => view.is_default);
    if (preferred && window.location.search === '') latestShow.current(preferred, 'replaceState');
  }, [views]);

  return {
    views: views ?? [],
    failed: list.isError,
    current: views?.find((view) => isShown(view, query, hidden)),
    /** What a view saved now would keep. */
    now: { query, columns: [...hidden] },
    plain: query === '' && hidden.size === 0,
    show,
  };
}
