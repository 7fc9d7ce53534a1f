'use client';

import { useEffect, useRef } from 'react';
import { type Tail, useTail } from '#components/logs/use-tail.ts';

const every = () => true;

/** The calls of this space from now on. `onArrival` hears when newer ones came, once for each batch. */
export function useNewCalls(onArrival: () => void): Tail {
  const tail = useTail(true, every);
  const newest = tail.rows[0]?.request_id;
  const heard = useRef(onArrival);
  useEffect(() => {
    heard.current = onArrival;
  });
  useEffect(() => {
    if (newest !== undefined) heard.current();
  }, [newest]);
  return tail;
}
