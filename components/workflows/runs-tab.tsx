'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useQueryStates } from 'nuqs';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { isTerminal } from '#server/domain/workflows/definition.shared.ts';
import { runColumns } from './run-columns.tsx';
import { RunsFilter } from './runs-filter.tsx';
import { runsInput, runsSearch } from './runs-search.ts';
import { type Detail, RUN_STATES } from './workflow-labels.ts';

/** The runs of a workflow, newest first; followed while one of them runs. */
export function RunsTab({ workflow }: { workflow: Detail }) {
  const trpc = useTRPC();
  const path = usePath();
  const [search, setSearch] = useQueryStates(runsSearch);
  const list = useQuery(
    trpc.workflows.executions.queryOptions(
      { id: workflow.id, ...runsInput(search) },
      {
        placeholderData: keepPreviousData,
        refetchInterval: ({ state }) =>
          state.data?.data.some(({ status }) => !isTerminal(status)) ? 2_000 : search.page === 1 ? 15_000 : false,
      },
    ),
  );
  return (
    <>
      <RunsFilter />
      {list.isError && !list.data ? (
        <QueryError query={list} what="Runs" />
      ) : (
        <DataTable
          columns={runColumns}
          rows={list.data?.data}
          rowId={(row) => row.id}
          rowName={(row) => `${RUN_STATES[row.status].label} run of ${row.created_at}`}
          caption="Runs"
          rowHref={(row) => path(`/runs/${row.id}`)}
          empty={
            <p className="py-8 text-center text-ink-3">
              {search.status || search.trigger_type
                ? 'No run matches.'
                : 'It has not run yet. Press Run in the editor, or enable its trigger.'}
            </p>
          }
        />
      )}
      <Pagination noun="runs" meta={list.data?.meta} onPage={(page) => void setSearch({ page })} />
    </>
  );
}
