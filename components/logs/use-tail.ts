'use client';

import { useEffect, useRef, useState } from 'react';
import { useScope, useTRPCClient } from '#components/trpc/provider.tsx';
import type { Log } from './call-kind.ts';

const KEPT = 1_000;

export type Tail = {
  rows: readonly Log[];
  /** Calls the server did not send because more than fifty came in a second. */
  heldBack: number;
  /** `closed`: the server ended or refuses it; signing in again, or another role, is what helps. */
  state: 'off' | 'connecting' | 'open' | 'closed';
};

const nothing: Tail = { rows: [], heldBack: 0, state: 'off' };

/**
 * Calls as they happen, newest first, while `on`. The stream is one per page; what the server holds back is counted. It begins after the call with
 * the id `after`, the newest the page shows, so that none is lost between the two; without it, at the moment the server begins. What `wanted` let in
 * before it became another stays: whoever shows it judges again.
 */
export function useTail(on: boolean, wanted: (log: Log) => boolean, after?: string): Tail {
  const { slug, space } = useScope();
  const client = useTRPCClient();
  const [tail, setTail] = useState(nothing);
  const filter = useRef(wanted);
  const start = useRef(after);
  useEffect(() => {
    filter.current = wanted;
    start.current = after;
  });
  useEffect(() => {
    if (!on) return;
    setTail({ ...nothing, state: 'connecting' });
    const query = new URLSearchParams({ workspace: slug, space });
    if (start.current) query.set('after', start.current);
    const source = new EventSource(`/admin/logs/tail?${query.toString()}`);
    source.onopen = () => setTail((tail) => ({ ...tail, state: 'open' }));
    // The browser connects again by itself, and gives up when it is refused; the page only says so.
    source.onerror = () => setTail((tail) => ({ ...tail, state: source.readyState === EventSource.CLOSED ? 'closed' : 'connecting' }));
    // The right to look has ended. Whether the session or the membership did too, the answer to any call tells the whole page.
    source.addEventListener('ended', () => {
      source.close();
      setTail((tail) => ({ ...tail, state: 'closed' }));
      void client.account.plan.query({}).catch(() => undefined);
    });
    source.addEventListener('rows', (event) => {
      const { logs, held_back } = JSON.parse((event as MessageEvent<string>).data) as { logs: Log[]; held_back: number };
      const fresh = logs.filter((log) => filter.current(log));
      setTail((tail) => {
        const known = new Set(tail.rows.map((row) => row.request_id));
        const rows = [...fresh.filter((row) => !known.has(row.request_id)), ...tail.rows].slice(0, KEPT);
        return { rows, heldBack: tail.heldBack + held_back, state: 'open' };
      });
    });
    return () => {
      source.close();
      setTail(nothing);
    };
  }, [on, slug, space, client]);
  return tail;
}

const PACE_MS = 10_000;

/** Runs after `mark` has changed, at once and then at most every ten seconds: figures follow a tail without being asked for at every call. */
export function useEvery(mark: string | undefined, run: () => void): void {
  const latest = useRef(run);
  useEffect(() => {
    latest.current = run;
  });
  const last = useRef(0);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    // A run that is coming sees the new mark too; under steady traffic it must not be put off for ever.
    if (mark === undefined || timer.current !== undefined) return;
    timer.current = setTimeout(
      () => {
        timer.current = undefined;
        last.current = Date.now();
        latest.current();
      },
      Math.max(500, last.current + PACE_MS - Date.now()),
    );
  }, [mark]);
}
