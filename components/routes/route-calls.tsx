'use client';

import { parseAsInteger, useQueryState } from 'nuqs';
import { Pagination } from '#components/ui/pagination.tsx';
import { CallsTable, useRouteCalls } from './calls-table.tsx';

/** Calls of one route, newest first, page by page. */
export function RouteCalls({ routeId, environment }: { routeId: string; environment?: string }) {
  const [page, setPage] = useQueryState('page', parseAsInteger.withDefault(1));
  const calls = useRouteCalls({ route_id: routeId, per_page: 50, page, ...(environment ? { environment } : {}) });
  return (
    <CallsTable calls={calls} environment={environment}>
      <Pagination noun="calls" meta={calls.data} onPage={(next) => void setPage(next)} />
    </CallsTable>
  );
}
