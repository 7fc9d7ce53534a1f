'use client';

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';

/** A page that was just opened has better things to do than to open a stream. */
const BEFORE_STREAM_MS = 5_000;
const POLL_MS = 60_000;

type Count = { unread: number; newest: string | null };

/** How many notifications are unread, kept current by a stream while the tab is looked at, and once a minute where there is none. */
export function useInbox(): Count | undefined {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { slug } = useScope();
  const [streaming, setStreaming] = useState(false);
  const count = useQuery(trpc.notifications.count.queryOptions({}, { refetchInterval: streaming ? false : POLL_MS, retry: false }));
  useEffect(() => {
    let source: EventSource | undefined;
    const close = () => {
      source?.close();
      source = undefined;
      setStreaming(false);
    };
    const open = () => {
      if (source || document.visibilityState !== 'visible') return;
      source = new EventSource(`/admin/notifications/stream?workspace=${encodeURIComponent(slug)}`);
      source.onopen = () => setStreaming(true);
      // The browser connects again by itself; meanwhile, and when it was refused, the count is asked for.
      source.onerror = () => setStreaming(false);
      source.addEventListener('ended', close);
      source.addEventListener('unread', (event) => {
        const next = JSON.parse((event as MessageEvent<string>).data) as Count;
        const before = cache.getQueryData<Count>(trpc.notifications.count.queryKey({}));
        cache.setQueryData(trpc.notifications.count.queryKey({}), next);
        if (before?.unread !== next.unread || before.newest !== next.newest)
          void cache.invalidateQueries(trpc.notifications.list.pathFilter());
      });
    };
    const look = () => (document.visibilityState === 'visible' ? open() : close());
    const timer = setTimeout(open, BEFORE_STREAM_MS);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', look);
      source?.close();
    };
  }, [slug, cache, trpc]);
  return count.data;
}
