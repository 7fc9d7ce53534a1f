'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { parseAsInteger, useQueryState } from 'nuqs';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { routeCallColumns } from './call-columns.tsx';

export type RouteCallsProps = {
  routeId: string;
  environment?: string;
  perPage?: number;
  /** Without pages: the newest few. */
  brief?: boolean;
};

/** Calls of one route, newest first; each opens in the log's inspector. */
export function RouteCalls({ routeId, environment, perPage = 50, brief }: RouteCallsProps) {
  const trpc = useTRPC();
  const path = usePath();
  const [page, setPage] = useQueryState('page', parseAsInteger.withDefault(1));
  const calls = useQuery(
    trpc.requestLogs.browse.queryOptions(
      { route_id: routeId, per_page: perPage, page: brief ? 1 : page, ...(environment ? { environment } : {}) },
      { placeholderData: keepPreviousData },
    ),
  );
  if (calls.error && !calls.data) return <QueryError query={calls} what="The calls" />;
  if (calls.data?.logs.length === 0) {
    return (
      <p className="text-ink-3">
        No call in the last 24 hours{environment ? ` in ${environment}` : ''}. The next one appears here with what was put in and what came
        back.
      </p>
    );
  }
  return (
    <div className="flex flex-col gap-3">
      <DataTable
        caption="Calls of this route"
        columns={routeCallColumns}
        rows={calls.data?.logs}
        rowId={(call) => call.request_id}
        rowName={(call) => `${call.method ?? ''} ${call.path ?? ''}`}
        rowHref={(call) => path(`/logs?peek=${call.request_id}`)}
        skeletonRows={brief ? 3 : 8}
        refreshing={calls.isPlaceholderData}
      />
      {brief ? (
        <LinkButton size="sm" href={path(`/logs?route_id=${routeId}`)} className="self-start">
          All calls in Logs
        </LinkButton>
      ) : (
        <Pagination noun="calls" meta={calls.data} onPage={(next) => void setPage(next)} />
      )}
    </div>
  );
}
