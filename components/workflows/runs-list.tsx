'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ListVideo } from 'lucide-react';
import { useQueryStates } from 'nuqs';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { isTerminal } from '#server/domain/workflows/definition.shared.ts';
import { OperationsMeter } from './operations-meter.tsx';
import { browsedColumns } from './run-columns.tsx';
import { RunsFilter } from './runs-filter.tsx';
import { runsInput, runsSearch } from './runs-search.ts';
import { RUN_STATES } from './workflow-labels.ts';

/** The runs of every workflow of the space, newest first. */
export function RunsList() {
  const trpc = useTRPC();
  const path = usePath();
  const [search, setSearch] = useQueryStates(runsSearch);
  const list = useQuery(
    trpc.workflows.browseExecutions.queryOptions(runsInput(search), {
      placeholderData: keepPreviousData,
      refetchInterval: ({ state }) =>
        state.data?.data.some(({ status }) => !isTerminal(status)) ? 3_000 : search.page === 1 ? 15_000 : false,
    }),
  );
  const filtered = search.status !== null || search.trigger_type !== null;
  return (
    <Page>
      <PageHeader title="Runs" description="What workflows did, and how it ended." />
      <OperationsMeter />
      {(filtered || list.data?.data.length !== 0) && <RunsFilter />}
      {list.isError && !list.data ? (
        <QueryError query={list} what="Runs" />
      ) : (
        <DataTable
          columns={browsedColumns}
          rows={list.data?.data}
          rowId={(row) => row.id}
          rowName={(row) => `${RUN_STATES[row.status].label} run of ${row.workflow_name}`}
          caption="Runs"
          rowHref={(row) => path(`/runs/${row.id}`)}
          empty={
            filtered ? (
              <p className="py-8 text-center text-ink-3">No run matches.</p>
            ) : (
              <EmptyState
                icon={<ListVideo />}
                title="Nothing has run yet"
                action={<LinkButton href={path('/workflows')}>View workflows</LinkButton>}
              >
                Each time a workflow is started, its run is listed here with what went into every step and what came out.
              </EmptyState>
            )
          }
        />
      )}
      <Pagination noun="runs" meta={list.data?.meta} onPage={(page) => void setSearch({ page })} />
    </Page>
  );
}
