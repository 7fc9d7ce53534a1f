'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { CalendarClock, Hand, type LucideIcon, Plus, Radio, Webhook, Workflow } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useQueryStates } from 'nuqs';
import { useLimit } from '#components/trpc/plan.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import type { MenuEntry } from '#components/ui/dropdown-menu.tsx';
import { EmptyState, NoResults } from '#components/ui/empty-states.tsx';
import { type ActiveFilter, FilterBar } from '#components/ui/filter-bar.tsx';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { Link } from '#components/ui/link.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { usePanel } from '#components/ui/panel.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { TRIGGER_TYPES, type TriggerType, triggerOf } from '#server/domain/workflows/definition.shared.ts';
import { EnabledSwitch } from './enabled-switch.tsx';
import { workflowListInput, workflowSearch } from './list-search.ts';
import { OperationsMeter } from './operations-meter.tsx';
import { TEMPLATE_CARDS } from './template-cards.ts';
import type { TemplateId } from './templates.ts';
import { triggerText } from './trigger-text.ts';
import { type Listed, RUN_STATES, type Usage } from './workflow-labels.ts';

const CreateWorkflowSheet = lazyOverlay(() => import('./create-sheet.tsx').then((module) => module.CreateWorkflowSheet), whenOpen);

const TRIGGERS: Record<TriggerType, { icon: LucideIcon; label: string }> = {
  manual: { icon: Hand, label: 'By hand' },
  webhook: { icon: Webhook, label: 'Webhook' },
  schedule: { icon: CalendarClock, label: 'Schedule' },
  proxy_event: { icon: Radio, label: 'Calls' },
};

type Row = Listed & { usage: Usage | undefined };
const column = columnsFor<Row>();

const columns = [
  column.accessor('name', {
    header: 'Name',
    enableSorting: true,
    meta: { cap: '18rem' },
    cell: ({ getValue }) => <span className="truncate">{getValue()}</span>,
  }),
  column.accessor('trigger_type', {
    header: 'Starts with',
    meta: { hideBelow: 'sm', cap: '20rem' },
    cell: ({ row: { original } }) => {
      const Icon = original.trigger_type && TRIGGERS[original.trigger_type].icon;
      return (
        <span className="flex min-w-0 items-center gap-1.5 text-ink-2">
          {Icon && <Icon aria-hidden className="size-3.5 shrink-0" />}
          <span className="truncate">
            {original.definition === null && original.trigger_type
              ? TRIGGERS[original.trigger_type].label
              : triggerText(triggerOf(original.definition)?.data?.config)}
          </span>
        </span>
      );
    },
  }),
  column.display({
    id: 'enabled',
    header: 'Enabled',
    // Above the link that reaches over the whole row.
    cell: ({ row: { original } }) => (
      <span className="relative z-10 inline-flex">
        <EnabledSwitch workflow={original} hideLabel />
      </span>
    ),
  }),
  column.display({
    id: 'last',
    header: 'Last run',
    meta: { hideBelow: 'sm' },
    cell: ({ row: { original } }) => <LastRun usage={original.usage} />,
  }),
  column.display({
    id: 'week',
    header: '7 days',
    meta: { hideBelow: 'md' },
    cell: ({ row: { original } }) => <Week usage={original.usage} />,
  }),
  column.display({
    id: 'owner',
    header: 'Owner',
    meta: { hideBelow: 'lg', cap: '12rem' },
    cell: ({ row: { original } }) => <span className="truncate text-ink-2">{original.usage?.created_by?.name ?? '—'}</span>,
  }),
  column.accessor('updated_at', {
    header: 'Changed',
    enableSorting: true,
    meta: { hideBelow: 'lg' },
    cell: ({ getValue }) => <Time value={getValue()} />,
  }),
];

function LastRun({ usage }: { usage: Usage | undefined }) {
  const path = usePath();
  if (!usage?.last_status || !usage.last_execution_id) return <span className="text-ink-3">{usage ? 'Never' : '…'}</span>;
  const { state, label } = RUN_STATES[usage.last_status];
  return (
    <Link
      href={path(`/runs/${usage.last_execution_id}`)}
      className="relative z-10 inline-flex items-center gap-2 rounded-sm hover:underline"
    >
      <Status state={state}>{label}</Status>
      <span className="text-ink-3 text-xs">
        <Time value={usage.last_at} />
      </span>
    </Link>
  );
}

/** A bar per day: what completed, and on top of it what failed; in words for who can't see it. */
function Week({ usage }: { usage: Usage | undefined }) {
  if (!usage) return <span className="text-ink-3">…</span>;
  const { days } = usage;
  const most = Math.max(1, ...days.map(({ completed, failed }) => completed + failed));
  const [ok, bad] = [days.reduce((sum, one) => sum + one.completed, 0), days.reduce((sum, one) => sum + one.failed, 0)];
  return (
    <span className="flex items-center gap-2">
      <span aria-hidden className="flex h-5 items-end gap-0.5 border-line-strong border-b">
        {days.map(({ day, completed, failed }) => (
          <span key={day} className="flex h-full w-2 flex-col justify-end">
            <span className="keep-fill bg-bad" style={{ height: `${(failed / most) * 100}%` }} />
            <span className="keep-fill bg-good" style={{ height: `${(completed / most) * 100}%` }} />
          </span>
        ))}
      </span>
      <span className="sr-only">{`${ok} completed, ${bad} failed in seven days`}</span>
      {bad > 0 && (
        <span aria-hidden className="figures text-bad-ink text-xs">
          {bad} failed
        </span>
      )}
    </span>
  );
}

/** The workflows of the space. */
export function WorkflowList() {
  const trpc = useTRPC();
  const path = usePath();
  const router = useRouter();
  const { api_url } = useScope();
  const readOnly = useForbidden('workflow:create');
  const limit = useLimit('workflows', 'workflows');
  const [search, setSearch] = useQueryStates(workflowSearch);
  const form = usePanel('open');
  const list = useQuery(trpc.workflows.list.queryOptions(workflowListInput(search), { placeholderData: keepPreviousData }));
  const usage = useQuery(trpc.workflows.usage.queryOptions({}, { refetchInterval: 15_000 }));
  useHotkeys([{ keys: 'c', label: 'New workflow', group: 'List', run: () => !readOnly && void form.open('blank') }]);
  const usageOf = usage.data && new Map(usage.data.data.map((row) => [row.id, row]));
  const rows = list.data?.data.map((row) => ({ ...row, usage: usageOf?.get(row.id) }));
  const clear = () => void setSearch({ q: null, enabled: null, trigger_type: null, page: null });
  const filters: ActiveFilter[] = [
    ...(search.enabled === null
      ? []
      : [
          {
            id: 'enabled',
            text: search.enabled ? 'Enabled' : 'Disabled',
            label: search.enabled ? 'Enabled' : 'Disabled',
            onRemove: () => void setSearch({ enabled: null }),
          },
        ]),
    ...(search.trigger_type === null
      ? []
      : [
          {
            id: 'trigger',
            text: TRIGGERS[search.trigger_type].label,
            label: TRIGGERS[search.trigger_type].label,
            onRemove: () => void setSearch({ trigger_type: null }),
          },
        ]),
  ];
  const choices: MenuEntry[] = [
    { heading: 'Status' },
    { label: 'Enabled', checked: search.enabled === true, onSelect: () => void setSearch({ enabled: true, page: null }) },
    { label: 'Disabled', checked: search.enabled === false, onSelect: () => void setSearch({ enabled: false, page: null }) },
    'separator',
    { heading: 'Starts with' },
    ...TRIGGER_TYPES.map((type) => ({
      label: TRIGGERS[type].label,
      checked: search.trigger_type === type,
      onSelect: () => void setSearch({ trigger_type: type, page: null }),
    })),
  ];
  const filtered = filters.length > 0 || search.q !== '';
  const empty = rows?.length === 0 && !filtered;
  return (
    <Page>
      <PageHeader
        title="Workflows"
        description="Steps that run by themselves: on a schedule, on a call, on a request, or when you press a button."
        usage={limit}
        actions={
          <Button variant="primary" icon={<Plus />} keys="c" disabledReason={readOnly} onClick={() => void form.open('blank')}>
            New workflow
          </Button>
        }
      />
      {!empty && <OperationsMeter />}
      {!empty && (
        <FilterBar
          query={search.q}
          onQuery={(q) => void setSearch({ q: q || null, page: null })}
          placeholder="Filter by name"
          filters={filters}
          choices={choices}
          onClear={clear}
        />
      )}
      {list.isError && !list.data ? (
        <QueryError query={list} what="Workflows" />
      ) : rows?.length === 0 && filtered ? (
        <NoResults
          noun="workflows"
          filters={[...(search.q ? [`name contains “${search.q}”`] : []), ...filters.map(({ text }) => text)]}
          onClear={clear}
        />
      ) : empty ? (
        <>
          <EmptyState
            icon={<Workflow />}
            title="No workflows yet"
            command={[
              {
                id: 'curl',
                label: 'cURL',
                language: 'bash',
                code: `curl ${api_url}/workflows \\\n  -H "Authorization: Bearer $SALLYPORT_KEY" \\\n  -H 'Content-Type: application/json' \\\n  -d '{"name":"first","definition":{}}'`,
              },
            ]}
          >
            A workflow is a graph of steps that something starts. Secrets are added where a step is sent, and stand nowhere else. Begin with
            one of these.
          </EmptyState>
          <Templates disabledReason={readOnly} onPick={(id) => void form.open(id)} />
        </>
      ) : (
        <DataTable
          columns={columns}
          rows={rows}
          rowId={(row) => row.id}
          rowName={(row) => row.name}
          caption="Workflows"
          rowHref={(row) => path(`/workflows/${row.id}`)}
          sort={{ sort: search.sort, order: search.order }}
          onSort={({ sort, order }) => void setSearch({ sort: sort as typeof search.sort, order, page: null })}
        />
      )}
      <Pagination noun="workflows" meta={list.data?.meta} onPage={(page) => void setSearch({ page })} />
      <CreateWorkflowSheet
        open={form.id !== null && !readOnly}
        first={TEMPLATE_CARDS.find(({ value }) => value === form.id)?.value ?? 'blank'}
        onClose={form.close}
        onCreated={(id) => router.replace(path(`/workflows/${id}`))}
      />
    </Page>
  );
}

/** The templates as cards, one press from a draft. */
function Templates({ disabledReason, onPick }: { disabledReason: string | undefined; onPick: (id: TemplateId) => void }) {
  return (
    <ul className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
      {TEMPLATE_CARDS.map(({ value, title, description }) => (
        <li key={value} className="flex flex-col gap-2 rounded-lg border border-line-strong bg-surface p-4">
          <h3 className="font-medium">{title}</h3>
          <p className="flex-1 text-ink-2">{description}</p>
          <div>
            <Button size="sm" disabledReason={disabledReason} aria-label={`Begin with it: ${title}`} onClick={() => onPick(value)}>
              Begin with it
            </Button>
          </div>
        </li>
      ))}
    </ul>
  );
}
