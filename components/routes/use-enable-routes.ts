'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { inferRouterOutputs } from '@trpc/server';
import { useTRPC, useTRPCClient } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { counted } from '#components/ui/numbers.ts';
import { notifyDone, notifyFailed } from '#components/ui/toaster.tsx';
import type { AppRouter } from '#server/trpc/root.ts';

export type RouteList = inferRouterOutputs<AppRouter>['routes']['list'];
export type RouteItem = RouteList['data'][number];

export type Change = {
  ids: readonly string[];
  enabled: boolean;
  /** Of a single route. */
  name?: string | undefined;
  undoes?: true;
};

/** Switches one route or many on or off: the list shows it at once and takes it back for those the server refused; a notice takes it back for ten seconds. */
export function useEnableRoutes() {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const cache = useQueryClient();
  const lists = trpc.routes.list.pathFilter();

  const change = useMutation({
    mutationFn: async ({ ids, enabled }: Change) => {
      const answers = await Promise.allSettled(ids.map((id) => client.routes.update.mutate({ id, enabled })));
      return ids.flatMap((id, index) => {
        const answer = answers[index];
        return answer?.status === 'rejected' ? [{ id, error: answer.reason as unknown }] : [];
      });
    },
    onMutate: async ({ ids, enabled }) => {
      await cache.cancelQueries(lists);
      const before = cache.getQueriesData<RouteList>(lists);
      cache.setQueriesData<RouteList>(
        lists,
        (old) => old && { ...old, data: old.data.map((r) => (ids.includes(r.id) ? { ...r, enabled } : r)) },
      );
      return before;
    },
    onSuccess: (failures, { ids, enabled, name, undoes }) => {
      const done = ids.filter((id) => !failures.some((failure) => failure.id === id));
      if (done.length > 0) {
        const what = name && done.length === 1 ? `“${name}”` : counted(done.length, 'route');
        notifyDone(
          `${what} turned ${enabled ? 'on' : 'off'}`,
          undoes ? undefined : { run: () => change.mutate({ ids: done, enabled: !enabled, name, undoes: true }) },
        );
      }
      // Not left to the list's next answer: when that is refused as well, a switch would go on telling what is not so.
      const refused = new Set(failures.map((failure) => failure.id));
      cache.setQueriesData<RouteList>(
        lists,
        (old) => old && { ...old, data: old.data.map((r) => (refused.has(r.id) ? { ...r, enabled: !enabled } : r)) },
      );
      const first = failures[0] && refusalOf(failures[0].error);
      if (first)
        notifyFailed(
          failures.length > 1 ? `${counted(failures.length, 'route')} could not be changed: ${first.message}` : first.message,
          first.request_id,
        );
    },
    onError: (_, __, before) => {
      for (const [key, data] of before ?? []) cache.setQueryData(key, data);
    },
    onSettled: () => cache.invalidateQueries(trpc.routes.pathFilter()),
  });
  return change;
}
