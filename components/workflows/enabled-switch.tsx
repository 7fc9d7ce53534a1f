'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Switch } from '#components/ui/choices.tsx';
import type { Detail } from './workflow-labels.ts';

/** Whether its trigger starts it. What can't be live is refused, with the step and what it lacks. */
export function EnabledSwitch({ workflow, hideLabel }: { workflow: Pick<Detail, 'id' | 'name' | 'enabled'>; hideLabel?: boolean }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const forbidden = useForbidden('workflow:update');
  const update = useMutation(
    trpc.workflows.update.mutationOptions({
      onError: (error) => notifyRefused(error, 'Nothing was changed. '),
      onSettled: () =>
        Promise.all([
          queryClient.invalidateQueries({ queryKey: trpc.workflows.get.queryKey({ id: workflow.id }) }),
          queryClient.invalidateQueries(trpc.workflows.list.pathFilter()),
        ]),
    }),
  );
  const shown = update.isPending ? update.variables.enabled : workflow.enabled;
  return (
    <Switch
      label={hideLabel ? `${workflow.name} is enabled` : 'Enabled'}
      {...(hideLabel ? { hideLabel } : {})}
      disabledReason={forbidden}
      checked={shown ?? false}
      onCheckedChange={(enabled) => update.mutate({ id: workflow.id, enabled })}
    />
  );
}
