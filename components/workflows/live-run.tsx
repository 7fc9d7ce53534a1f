'use client';

import { useMutation } from '@tanstack/react-query';
import { Square, X } from 'lucide-react';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { Status } from '#components/ui/badge.tsx';
import { Button, IconButton, LinkButton } from '#components/ui/button.tsx';
import { isTerminal } from '#server/domain/workflows/definition.shared.ts';
import type { LastRun } from './use-last-run.ts';
import { failureOf, RUN_STATES, tookText } from './workflow-labels.ts';

/** The run that is painted on the canvas: how far it is, and the way to its page. */
export function LiveRun({ last: { run, follow } }: { last: LastRun }) {
  const trpc = useTRPC();
  const path = usePath();
  const cancel = useMutation(trpc.workflows.cancel.mutationOptions({ onError: (error) => notifyRefused(error) }));
  if (!run) return null;
  const { state, label } = RUN_STATES[run.status];
  return (
    <div role="status" className="flex flex-wrap items-center gap-x-3 gap-y-1 rounded-lg border border-line-strong bg-surface px-3 py-1.5">
      <Status state={state}>{label}</Status>
      <span className="figures text-ink-3 text-xs">{tookText(run.execution_time_ms)}</span>
      {run.error_code && <span className="min-w-0 text-bad-ink text-xs">{run.error_message ?? failureOf(run.error_code)}</span>}
      <span className="ml-auto flex items-center gap-1.5">
        {!isTerminal(run.status) && (
          <Button size="sm" icon={<Square />} loading={cancel.isPending} onClick={() => cancel.mutate({ id: run.id })}>
            Cancel
          </Button>
        )}
        <LinkButton size="sm" href={path(`/runs/${run.id}`)}>
          View run
        </LinkButton>
        <IconButton size="sm" label="Take the run off the canvas" icon={<X />} onClick={() => follow(undefined)} />
      </span>
    </div>
  );
}
