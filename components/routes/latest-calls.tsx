'use client';

import { usePath } from '#components/trpc/provider.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { CallsTable, useRouteCalls } from './calls-table.tsx';

/** The newest few calls of one route, and the way to the others. */
export function LatestCalls({ routeId }: { routeId: string }) {
  const path = usePath();
  return (
    <CallsTable calls={useRouteCalls({ route_id: routeId, per_page: 10, page: 1 })} skeletonRows={3}>
      <LinkButton size="sm" href={path(`/logs?route_id=${routeId}`)} className="self-start">
        View in Logs
      </LinkButton>
    </CallsTable>
  );
}
