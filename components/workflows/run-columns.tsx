import { Badge, Status } from '#components/ui/badge.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { type BrowsedRun, failureOf, RUN_STATES, type Run, STARTED_BY, tookText } from './workflow-labels.ts';

const column = columnsFor<Run>();

/** The columns of a list of runs. */
export const runColumns = [
  column.accessor('status', {
    header: 'Status',
    cell: ({ getValue }) => {
      const { state, label } = RUN_STATES[getValue()];
      return <Status state={state}>{label}</Status>;
    },
  }),
  column.accessor('created_at', { header: 'Started', cell: ({ getValue }) => <Time value={getValue()} /> }),
  column.accessor('trigger_type', {
    header: 'By',
    meta: { hideBelow: 'sm', cap: '14rem' },
    cell: ({ row: { original } }) => (
      <span className="flex min-w-0 items-center gap-1.5">
        <span className="truncate">{STARTED_BY[original.trigger_type]}</span>
        {original.workflow_version !== null && <Badge>v{original.workflow_version}</Badge>}
      </span>
    ),
  }),
  column.accessor('execution_time_ms', {
    header: 'Took',
    meta: { align: 'right' },
    cell: ({ getValue }) => <span className="figures">{tookText(getValue())}</span>,
  }),
  column.accessor('operations', {
    header: 'Operations',
    meta: { align: 'right', hideBelow: 'md' },
    cell: ({ getValue }) => <span className="figures">{getValue()}</span>,
  }),
  column.accessor('error_code', {
    header: 'Problem',
    meta: { hideBelow: 'lg', cap: '22rem' },
    cell: ({ row: { original } }) =>
      original.error_code && original.status === 'failed' ? (
        <span className="truncate">{original.error_message ?? failureOf(original.error_code)}</span>
      ) : (
        ''
      ),
  }),
];

const browsed = columnsFor<BrowsedRun>();

/** The same with the workflow in front, for the runs of the space. */
export const browsedColumns = [
  browsed.accessor('workflow_name', {
    header: 'Workflow',
    meta: { cap: '16rem' },
    cell: ({ getValue }) => <span className="truncate">{getValue()}</span>,
  }),
  ...(runColumns as unknown as ReturnType<typeof browsed.display>[]),
];
