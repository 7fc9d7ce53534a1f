'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { useEnvironmentLabel } from '#components/ui/environment-label.ts';
import { routeCallColumns } from './call-columns.tsx';

type Asked = { route_id: string; per_page: number; page: number; environment?: string };

/** A page of the calls of one route. */
export function useRouteCalls(asked: Asked) {
  const trpc = useTRPC();
  return useQuery(trpc.requestLogs.browse.queryOptions(asked, { placeholderData: keepPreviousData }));
}

type CallsTableProps = {
  calls: ReturnType<typeof useRouteCalls>;
  environment?: string | undefined;
  skeletonRows?: number;
  /** Under the calls, where there are any. */
  children: ReactNode;
};

/** Calls of one route; each opens in the log's inspector. */
export function CallsTable({ calls, environment, skeletonRows = 8, children }: CallsTableProps) {
  const path = usePath();
  const label = useEnvironmentLabel();
  if (calls.error && !calls.data) return <QueryError query={calls} what="Requests" />;
  if (calls.data?.logs.length === 0) {
    return <p className="text-ink-3">No requests in the last 24 hours{environment ? ` in ${label(environment)}` : ''}.</p>;
  }
  return (
    <div className="flex flex-col gap-3">
      <DataTable
        caption="Requests"
        columns={routeCallColumns}
        rows={calls.data?.logs}
        rowId={(call) => call.request_id}
        rowName={(call) => `${call.method ?? ''} ${call.path ?? ''}`}
        rowHref={(call) => path(`/logs?peek=${call.request_id}`)}
        skeletonRows={skeletonRows}
        refreshing={calls.isPlaceholderData}
      />
      {children}
    </div>
  );
}
