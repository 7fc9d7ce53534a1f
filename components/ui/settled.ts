'use client';

import { useEffect, useState } from 'react';

/** True once the page has settled: from then on what it may need next is fetched without being in the way. */
export function useSettled(): boolean {
  const [settled, setSettled] = useState(false);
  useEffect(() => {
    // Safari has no requestIdleCallback.
    const timer = setTimeout(() => setSettled(true), 800);
    return () => clearTimeout(timer);
  }, []);
  return settled;
}
