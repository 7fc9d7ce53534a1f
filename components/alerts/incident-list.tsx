'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ListChecks } from 'lucide-react';
import { parseAsInteger, parseAsString, parseAsStringLiteral, useQueryStates } from 'nuqs';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Badge, Chip, Status } from '#components/ui/badge.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Segmented } from '#components/ui/tabs.tsx';
import { Time } from '#components/ui/time.tsx';
import { INCIDENT_STATES } from '#server/domain/alerts/conditions.shared.ts';
import { AlertTabs } from './alert-tabs.tsx';
import { type IncidentRow, lasted, SEVERITY_LABELS, SEVERITY_TONES, valueText } from './labels.ts';

const SEARCH = { state: parseAsStringLiteral(INCIDENT_STATES), alert: parseAsString, page: parseAsInteger.withDefault(1) };

/** What alerts have found, the newest first. */
export function IncidentList() {
  const trpc = useTRPC();
  const path = usePath();
  const [{ state, alert, page }, setSearch] = useQueryStates(SEARCH);
  const list = useQuery(
    trpc.alerts.incidents.queryOptions(
      { page, per_page: 25, ...(state ? { state } : {}), ...(alert ? { alert_id: alert } : {}) },
      { placeholderData: keepPreviousData, refetchInterval: 10_000 },
    ),
  );
  const rows = list.data?.data;
  return (
    <Page>
      <PageHeader title="Incidents" description="Each time the condition of an alert held, by route.">
        <AlertTabs active="incidents" />
      </PageHeader>
      <div className="flex flex-wrap items-center gap-2">
        <Segmented
          label="State"
          size="sm"
          options={[
            { value: 'all', label: 'All' },
            { value: 'open', label: 'Open' },
            { value: 'resolved', label: 'Resolved' },
          ]}
          value={state ?? 'all'}
          onValueChange={(next) => void setSearch({ state: next === 'all' ? null : next, page: null })}
        />
        {alert && (
          <Chip removeLabel="Show incidents of every alert" onRemove={() => void setSearch({ alert: null, page: null })}>
            {rows?.[0]?.alert_name ?? 'One alert'}
          </Chip>
        )}
      </div>
      {list.isError && !list.data ? (
        <QueryError query={list} what="Incidents" />
      ) : (
        <DataTable
          caption="Incidents"
          columns={columns}
          rows={rows}
          rowId={(row) => row.id}
          rowName={(row) => `${row.alert_name}, ${row.started_at}`}
          rowHref={(row) => path(`/alerts/incidents/${row.id}`)}
          skeletonRows={4}
          empty={
            <EmptyState icon={<ListChecks />} title={state || alert ? 'No incidents fit' : 'No incidents'}>
              When the condition of an alert holds, an incident opens here. It resolves after two windows in which it doesn’t.
            </EmptyState>
          }
        />
      )}
      <Pagination noun="incidents" meta={list.data?.meta} onPage={(next) => void setSearch({ page: next })} />
    </Page>
  );
}

const column = columnsFor<IncidentRow>();
const columns = [
  column.accessor('alert_name', {
    header: 'Alert',
    cell: ({ row: { original: row } }) => (
      <span className="flex min-w-0 flex-col">
        <span className="flex flex-wrap items-center gap-x-2">
          {row.alert_name} <Badge tone={SEVERITY_TONES[row.severity]}>{SEVERITY_LABELS[row.severity]}</Badge>
        </span>
        {row.subject && <span className="text-ink-2 text-xs [overflow-wrap:anywhere]">{row.subject}</span>}
      </span>
    ),
  }),
  column.accessor('state', {
    header: 'State',
    cell: ({ row: { original: row } }) =>
      row.state === 'open' ? (
        <Status state="failing">{row.acknowledged_at ? 'Open, acknowledged' : 'Open'}</Status>
      ) : (
        <Status state="ok">Resolved</Status>
      ),
  }),
  column.accessor('peak', {
    header: 'Peak',
    meta: { hideBelow: 'sm' },
    cell: ({ row: { original: row } }) => valueText(row.peak, row.unit),
  }),
  column.accessor('started_at', { header: 'Started', cell: ({ getValue }) => <Time value={getValue()} /> }),
  column.display({
    id: 'lasted',
    header: 'Lasted',
    meta: { hideBelow: 'md' },
    cell: ({ row: { original: row } }) => lasted(row.started_at, row.resolved_at, Date.now()),
  }),
];
