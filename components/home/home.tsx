'use client';

import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Page } from '#components/ui/layout.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import type { ServedCards } from './cards.ts';

// Only one of the three is seen, and the first two once in a workspace's life; the server sends it drawn.
const FirstCall = lazy(() => import('./first-call.tsx').then((module) => ({ default: module.FirstCall })));
const EmptyLive = lazy(() => import('./empty-live.tsx').then((module) => ({ default: module.EmptyLive })));
const Overview = lazy(() => import('./overview.tsx').then((module) => ({ default: module.Overview })));

/** A space without a successful call gets the guide to its first one; every other space gets its health. */
export function Home(served: ServedCards) {
  const trpc = useTRPC();
  const { space } = useScope();
  const calls = useQuery(trpc.requestLogs.browse.queryOptions({ per_page: 8 }));
  const routes = useQuery(trpc.routes.list.queryOptions({ per_page: 1 }));
  // Decided once a visit: the page must not change under the person who has just made the first call.
  const [first, setFirst] = useState<boolean>();
  if (first === undefined && calls.data) setFirst(calls.data.first_success_day === null);
  if (calls.error && !calls.data) {
    return (
      <Page>
        <QueryError query={calls} what="Calls" />
      </Page>
    );
  }
  if (first === undefined || !routes.data) {
    return (
      <Page>
        <Skeleton lines={6} label="Loading" />
      </Page>
    );
  }
  const start = space === 'live' && routes.data.meta.total === 0 ? <EmptyLive /> : <FirstCall goLive={served.goLive} />;
  return <Suspense fallback={null}>{first ? start : <Overview {...served} />}</Suspense>;
}
