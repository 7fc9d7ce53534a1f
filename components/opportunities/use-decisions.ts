'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';

/** What is decided with one click, and how each is taken back. */
export function useDecisions() {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const refresh = () => cache.invalidateQueries(trpc.opportunities.pathFilter());
  const settled = { onError: (error: unknown) => notifyRefused(error), onSettled: refresh };
  const reopen = useMutation(trpc.opportunities.reopen.mutationOptions({ ...settled, onSuccess: () => notifyDone('Reopened') }));
  const show = useMutation(
    trpc.opportunities.showHost.mutationOptions({ ...settled, onSuccess: ({ host }) => notifyDone(`${host} is shown again`) }),
  );
  const snooze = useMutation(
    trpc.opportunities.snooze.mutationOptions({
      ...settled,
      onSuccess: ({ opportunity_id: id }) => notifyDone('Snoozed', { run: () => reopen.mutate({ id }) }),
    }),
  );
  const ignore = useMutation(
    trpc.opportunities.ignoreHost.mutationOptions({
      ...settled,
      onSuccess: ({ host }) => notifyDone(`${host} is ignored`, { run: () => show.mutate({ host }) }),
    }),
  );
  return { reopen, show, snooze, ignore };
}
