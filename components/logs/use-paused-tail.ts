'use client';

import { useEffect, useState } from 'react';
import type { Log } from './call-kind.ts';
import type { Tail } from './use-tail.ts';

export type Held = Tail & {
  /** What of the tail stands in the list. */
  shown: readonly Log[];
  /** How many wait to be shown. */
  waiting: number;
  /** Shows what waits, though somebody still reads. */
  show: () => void;
};

/** While somebody reads the list nothing is put above what they read; it waits, is counted, and comes when they are done or ask for it. */
export function usePausedTail(tail: Tail, reading: boolean): Held {
  const [shown, setShown] = useState<readonly Log[]>([]);
  useEffect(() => {
    // A tail that was switched off or began anew has nothing of the old one.
    if (!reading || tail.rows.length === 0) setShown(tail.rows);
  }, [tail.rows, reading]);
  const newest = shown[0]?.request_id;
  const known = tail.rows.findIndex((row) => row.request_id === newest);
  const waiting = known === -1 ? tail.rows.length : known;
  return { ...tail, shown, waiting, show: () => setShown(tail.rows) };
}
