'use client';

import { useEffect, useState } from 'react';

/** When a page has settled: from then on what it may need next is fetched without being in the way. */
export const SETTLE_MS = 800;

/** True once the page has settled. */
export function useSettled(): boolean {
  const [settled, setSettled] = useState(false);
  useEffect(() => {
    // Safari has no requestIdleCallback.
    const timer = setTimeout(() => setSettled(true), SETTLE_MS);
    return () => clearTimeout(timer);
  }, []);
  return settled;
}

/** A text once nobody has changed it for `pauseMs`; an emptied one at once. */
export function useSettledText(text: string, pauseMs: number): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), text === '' ? 0 : pauseMs);
    return () => clearTimeout(timer);
  }, [text, pauseMs]);
  return settled;
}
