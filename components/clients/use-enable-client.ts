'use client';

import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import type { ClientRow } from './client-labels.ts';

type Lists = { data: ClientRow[] } | undefined;

/** Switches a client on or off at once on the page, and back when the server refuses. */
export function useEnableClient() {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  return useMutation(
    trpc.clients.update.mutationOptions({
      onMutate: async ({ id, enabled }) => {
        await queryClient.cancelQueries(trpc.clients.list.pathFilter());
        const before: [QueryKey, Lists][] = queryClient.getQueriesData(trpc.clients.list.pathFilter()) as [QueryKey, Lists][];
        for (const [key, list] of before)
          if (list)
            queryClient.setQueryData(key, {
              ...list,
              data: list.data.map((row) => (row.id === id ? { ...row, enabled: enabled ?? row.enabled } : row)),
            });
        return { before };
      },
      onError: (error, _, context) => {
        for (const [key, list] of context?.before ?? []) queryClient.setQueryData(key, list);
        notifyRefused(error);
      },
      onSettled: () => void queryClient.invalidateQueries(trpc.clients.pathFilter()),
    }),
  );
}
