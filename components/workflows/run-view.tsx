'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { RotateCcw, Square, SquarePen } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { parseAsInteger, parseAsString, useQueryStates } from 'nuqs';
import { useMemo } from 'react';
import { Crumbs } from '#components/shell/crumbs.tsx';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge, Status } from '#components/ui/badge.tsx';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { capitalize } from '#components/ui/capitalize.ts';
import { CopyText } from '#components/ui/copy.tsx';
import { Menu } from '#components/ui/dropdown-menu.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { Page, PageHeader, SectionCard, textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Time } from '#components/ui/time.tsx';
import { isTerminal } from '#server/domain/workflows/definition.shared.ts';
import { CanvasArea } from './canvas-area.tsx';
import { documentOf } from './document.ts';
import { edgeMarksOf, marksOfRun, runsOf } from './run-marks.ts';
import { StepRunPanel } from './step-run-panel.tsx';
import { Timeline } from './timeline.tsx';
import { pauseFor } from './use-last-run.ts';
import { failureOf, RUN_STATES, type RunDetail, STARTED_BY, tookText } from './workflow-labels.ts';

/** One run: the canvas painted by how each step fared, what went in and out, and when. Followed until it has ended. */
export function RunView({ id }: { id: string }) {
  const trpc = useTRPC();
  const path = usePath();
  const query = useQuery(
    trpc.workflows.inspectExecution.queryOptions(
      { id },
      { refetchInterval: ({ state }) => (state.error ? false : pauseFor(state.data?.status, state.dataUpdateCount)) },
    ),
  );
  const back = { href: path('/runs'), label: 'Runs' };
  if (query.isError && !query.data)
    return (
      <Page>
        <PageHeader title="Run" back={back} />
        <QueryError query={query} what="Run" />
      </Page>
    );
  if (!query.data)
    return (
      <Page>
        <PageHeader title="Run" back={back} />
        <Skeleton lines={8} label="Loading run" />
      </Page>
    );
  return <Shown run={query.data} back={back} />;
}

function Shown({ run, back }: { run: RunDetail; back: { href: string; label: string } }) {
  const path = usePath();
  const [{ step, iteration }, setSearch] = useQueryStates({ step: parseAsString, iteration: parseAsInteger });
  const doc = useMemo(() => documentOf(run.definition), [run.definition]);
  const marks = useMemo(() => marksOfRun(run.node_executions), [run.node_executions]);
  const edgeMarks = useMemo(() => edgeMarksOf(run), [run]);
  const { state, label } = RUN_STATES[run.status];
  const open = (id: string | undefined) => void setSearch({ step: id ?? null, iteration: null });
  const chosen = useMemo(() => new Set(step ? [step] : []), [step]);
  return (
    <Page>
      <Crumbs crumbs={[{ label: run.workflow_name }]} />
      <PageHeader
        back={back}
        title={run.workflow_name}
        description={
          <>
            {STARTED_BY[run.trigger_type]}, <Time value={run.created_at} format="datetime" />
          </>
        }
        badges={
          <>
            <Status state={state}>{label}</Status>
            <Badge>{run.workflow_version === null ? 'Draft' : `Version ${run.workflow_version}`}</Badge>
          </>
        }
        actions={<Actions run={run} />}
      >
        <p className="-mt-1 text-ink-3 text-xs">
          <CopyText value={run.id} label="execution ID" />
        </p>
      </PageHeader>
      {run.error_code && (
        <Callout tone="bad" title={capitalize(run.error_message ?? failureOf(run.error_code))}>
          {failureOf(run.error_code)}
        </Callout>
      )}
      <div className="relative flex h-[max(26rem,calc(100dvh-26rem))] overflow-hidden rounded-lg border border-line-strong bg-canvas">
        <CanvasArea
          doc={doc}
          label={`Steps of the run of ${run.workflow_name}`}
          selected={chosen}
          onSelect={([first]) => open(first)}
          marks={marks}
          edgeMarks={edgeMarks}
        />
        {step && (
          <div className="absolute inset-y-0 right-0 flex w-full max-w-108 shadow-overlay lg:static lg:w-108 lg:shadow-none">
            <StepRunPanel
              runs={runsOf(run.node_executions, step)}
              doc={doc}
              id={step}
              iteration={iteration}
              onIteration={(next) => void setSearch({ iteration: next })}
              onClose={() => open(undefined)}
            />
          </div>
        )}
      </div>
      <SectionCard title="Timeline">
        <Timeline run={run} chosen={step} onOpen={open} />
      </SectionCard>
      <SectionCard title="Details">
        <KeyValueList
          columns={2}
          items={[
            {
              label: 'Workflow',
              value: (
                <Link href={path(`/workflows/${run.workflow_id}`)} className={textLink}>
                  {run.workflow_name}
                </Link>
              ),
            },
            { label: 'Started by', value: run.triggered_by.label || STARTED_BY[run.trigger_type] },
            { label: 'Queued', value: <Time value={run.created_at} format="datetime" /> },
            { label: 'Began', value: <Time value={run.started_at} format="datetime" empty="Not yet" /> },
            { label: 'Ended', value: <Time value={run.completed_at} format="datetime" empty="Not yet" /> },
            { label: 'Took', value: tookText(run.execution_time_ms), hint: 'Without the time it waited.' },
            { label: 'Operations', value: run.operations },
            ...(run.retry_of
              ? [
                  {
                    label: 'Retry of',
                    value: (
                      <Link href={path(`/runs/${run.retry_of}`)} className={textLink}>
                        {run.retry_of}
                      </Link>
                    ),
                  },
                ]
              : []),
          ]}
        />
      </SectionCard>
    </Page>
  );
}

function Actions({ run }: { run: RunDetail }) {
  const trpc = useTRPC();
  const path = usePath();
  const router = useRouter();
  const queryClient = useQueryClient();
  const cannotRun = useForbidden('workflow:execute');
  const cannotCancel = useForbidden('workflow:cancel');
  const settle = () => queryClient.invalidateQueries(trpc.workflows.pathFilter());
  const cancel = useMutation(trpc.workflows.cancel.mutationOptions({ onError: (error) => notifyRefused(error), onSettled: settle }));
  const retry = useMutation(
    trpc.workflows.retry.mutationOptions({
      onError: (error) => notifyRefused(error),
      onSuccess: ({ id }) => router.push(path(`/runs/${id}`)),
    }),
  );
  const again = run.status === 'failed' || run.status === 'cancelled';
  return (
    <>
      <LinkButton icon={<SquarePen />} href={path(`/workflows/${run.workflow_id}?data=${run.id}`)}>
        Open in editor with this data
      </LinkButton>
      {!isTerminal(run.status) && (
        <Button
          icon={<Square />}
          loading={cancel.isPending}
          disabledReason={cannotCancel ?? (run.status === 'cancelling' ? 'It is being canceled: steps that run end first.' : undefined)}
          onClick={() => cancel.mutate({ id: run.id })}
        >
          Cancel run
        </Button>
      )}
      {again && (
        <Menu
          entries={[
            { label: 'From the failed step', onSelect: () => retry.mutate({ id: run.id, from: 'failed_node' }) },
            { label: 'From the start', onSelect: () => retry.mutate({ id: run.id, from: 'start' }) },
          ]}
          trigger={
            <Button variant="primary" icon={<RotateCcw />} loading={retry.isPending} disabledReason={cannotRun}>
              Retry
            </Button>
          }
        />
      )}
    </>
  );
}
