'use client';

import { useEffect, useRef, useState } from 'react';
import type { Call } from '#components/routes/call-columns.tsx';
import { useScope } from '#components/trpc/provider.tsx';

export type Live = { calls: readonly Call[]; state: 'connecting' | 'open' | 'lost' };

const KEPT = 50;

/**
 * The calls of this space from now on, newest first, as the server sends them (server-sent events). A lost connection comes back by itself
 * and resumes after the last call seen. `onCalls` hears of each batch once.
 */
export function useLiveCalls(onCalls?: (calls: readonly Call[]) => void): Live {
  const { slug, space } = useScope();
  const [live, setLive] = useState<Live>({ calls: [], state: 'connecting' });
  const heard = useRef(onCalls);
  useEffect(() => {
    heard.current = onCalls;
  });
  useEffect(() => {
    // EventSource cannot send headers; the place goes into the address.
    const source = new EventSource(`/admin/logs/tail?${new URLSearchParams({ workspace: slug, space }).toString()}`);
    source.addEventListener('open', () => setLive((old) => ({ ...old, state: 'open' })));
    source.addEventListener('error', () => setLive((old) => ({ ...old, state: 'lost' })));
    source.addEventListener('rows', (event: MessageEvent<string>) => {
      const { logs } = JSON.parse(event.data) as { logs: Call[] };
      setLive((old) => ({ state: 'open', calls: merged(logs, old.calls) }));
      heard.current?.(logs);
    });
    return () => source.close();
  }, [slug, space]);
  return live;
}

/** Newest first, each call once, at most fifty. */
export function merged(fresh: readonly Call[], known: readonly Call[]): Call[] {
  const seen = new Set<string>();
  return [...fresh, ...known].filter((call) => !seen.has(call.request_id) && seen.add(call.request_id)).slice(0, KEPT);
}
