'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { FolderInput } from 'lucide-react';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { Menu } from '#components/ui/dropdown-menu.tsx';
import { counted } from '#components/ui/numbers.ts';
import { notifyDone } from '#components/ui/toaster.tsx';

/** Moves the selected routes into a collection; they get the environments it expects. */
export function MoveToCollection({ ids, onDone }: { ids: ReadonlySet<string>; onDone: () => void }) {
  const trpc = useTRPC();
  const path = usePath();
  const cache = useQueryClient();
  const collections = useQuery(trpc.collections.list.queryOptions({ per_page: 100 }));
  const known = collections.data?.data ?? [];
  const move = useMutation(
    trpc.collections.moveMembers.mutationOptions({
      onSuccess: (_, { id, ids: moved }) => {
        const name = known.find((one) => one.id === id)?.name ?? 'collection';
        notifyDone(`${counted(moved.length, 'route')} moved to ${name}`);
        onDone();
        return Promise.all([cache.invalidateQueries(trpc.routes.pathFilter()), cache.invalidateQueries(trpc.collections.pathFilter())]);
      },
      onError: (error) => notifyRefused(error),
    }),
  );
  return (
    <Menu
      side="top"
      trigger={
        <Button size="sm" icon={<FolderInput />} loading={move.isPending}>
          Move to collection
        </Button>
      }
      entries={[
        { heading: 'Move to' },
        ...known.map(({ id, name }) => ({ label: name, onSelect: () => move.mutate({ id, type: 'route' as const, ids: [...ids] }) })),
        'separator' as const,
        { label: 'New collection…', href: path('/collections?create=true') },
      ]}
    />
  );
}
