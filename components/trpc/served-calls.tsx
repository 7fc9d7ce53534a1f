'use client';

import { useEffect } from 'react';
import { record } from './recorder.ts';

/** A query that was asked on the server for the page's first paint; its input was masked there. */
export type ServedCall = { procedure: string; input: unknown; ms: number; at: number };

/** Tells the developer pane what the server asked for this page. Shows nothing. */
export function ServedCalls({ requestId, calls }: { requestId: string; calls: readonly ServedCall[] }) {
  useEffect(() => {
    for (const { procedure, input, ms, at } of calls.toReversed())
      record({
        key: `${requestId} ${procedure} ${JSON.stringify(input)}`,
        what: { procedure, input },
        kind: 'query',
        ms,
        at,
        request_id: requestId,
        served: true,
      });
  }, [requestId, calls]);
  return null;
}
