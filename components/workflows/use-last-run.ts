'use client';

import { useQuery } from '@tanstack/react-query';
import { parseAsString, useQueryState } from 'nuqs';
import { useMemo, useState } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { isTerminal } from '#server/domain/workflows/definition.shared.ts';
import { TRIGGER_ID } from './document.ts';
import { edgeMarksOf, marksOfRun, outputsOf } from './run-marks.ts';

const NOTHING = new Map<string, never>();

/**
 * The run whose values the editor offers: the one that was just started, which is followed and painted; the one that the address names ("open in
 * editor with this data"); else the newest.
 */
export function useLastRun(workflowId: string) {
  const trpc = useTRPC();
  const hidden = useForbidden('workflow:read_execution_data') !== undefined;
  const [named] = useQueryState('data', parseAsString);
  const [followed, setFollowed] = useState<string>();
  const newest = useQuery(
    trpc.workflows.executions.queryOptions({ id: workflowId, per_page: 1 }, { enabled: !hidden && !named && !followed }),
  );
  const id = followed ?? named ?? newest.data?.data[0]?.id;
  const query = useQuery(
    trpc.workflows.inspectExecution.queryOptions(
      { id: id ?? '' },
      { enabled: !hidden && id !== undefined, refetchInterval: ({ state }) => pauseFor(state.data?.status, state.dataUpdateCount) },
    ),
  );
  const run = query.data && query.data.workflow_id === workflowId ? query.data : undefined;
  const painted = run && (followed === run.id || named === run.id) ? run : undefined;
  const outputs = useMemo(() => (run ? outputsOf(run.node_executions) : NOTHING), [run]);
  const marks = useMemo(() => (painted ? marksOfRun(painted.node_executions) : NOTHING), [painted]);
  const edgeMarks = useMemo(() => (painted ? edgeMarksOf(painted) : NOTHING), [painted]);
  return {
    outputs,
    marks,
    edgeMarks,
    /** The run that is painted on the canvas. */
    run: painted,
    input: (outputs.get(TRIGGER_ID) as { data?: unknown } | undefined)?.data,
    follow: (next: string | undefined) => setFollowed(next),
  };
}
export type LastRun = ReturnType<typeof useLastRun>;

/** Until when a run that has not ended is asked for again: a second at first, five once it takes long. False once it has ended. */
export function pauseFor(status: string | undefined, asked: number): number | false {
  if (status !== undefined && isTerminal(status)) return false;
  return Math.min(5_000, 700 * 1.25 ** asked);
}
