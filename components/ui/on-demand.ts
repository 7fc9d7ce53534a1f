'use client';

import { useEffect, useState, useSyncExternalStore } from 'react';
import { SETTLE_MS } from './use-settled.ts';

/**
 * Code that stands on a page only once something on it opens: menus, tooltips, dialogs. It is fetched when the page has settled, or at once by
 * `fetch` (a pointer comes near) and by `use(true)` (it was opened). A page therefore starts without it (70 §1).
 */
export function onDemand<T>(load: () => Promise<T>) {
  let here: T | undefined;
  let coming: Promise<void> | undefined;
  let scheduled = false;
  const waiting = new Set<() => void>();
  const get = (): Promise<void> => {
    coming ??= load().then(
      (value) => {
        here = value;
        for (const tell of waiting) tell();
      },
      (error: unknown) => {
        // The network was away, or a new release is there: the next wish asks again.
        coming = undefined;
        throw error;
      },
    );
    return coming;
  };
  const fetch = (): void => void get().catch(() => undefined);
  const subscribe = (tell: () => void) => {
    waiting.add(tell);
    return () => waiting.delete(tell);
  };
  /** Undefined until it has come. What was opened and cannot be fetched fails the page, which says what to do. */
  function useNow(wanted: boolean): T | undefined {
    const [failure, setFailure] = useState<{ error: unknown }>();
    const value = useSyncExternalStore(
      subscribe,
      () => here,
      () => undefined,
    );
    useEffect(() => {
      if (wanted) get().catch((error: unknown) => setFailure({ error }));
      else if (!scheduled) {
        scheduled = true;
        setTimeout(fetch, SETTLE_MS);
      }
    }, [wanted]);
    if (failure) throw failure.error;
    return value;
  }
  return { fetch, use: useNow };
}
