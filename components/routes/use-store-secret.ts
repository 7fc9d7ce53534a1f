'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTRPC } from '#components/trpc/provider.tsx';

/** Creates a secret. Its value doesn't stay in the cache of mutations. */
export function useStoreSecret(onStored: (secret: { id: string; name: string }) => void) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  return useMutation({
    ...trpc.secrets.create.mutationOptions({
      onSuccess: async (secret) => {
        await cache.invalidateQueries(trpc.secrets.pathFilter());
        onStored(secret);
      },
    }),
    gcTime: 0,
  });
}
