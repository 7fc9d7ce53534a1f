'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { FolderMinus } from 'lucide-react';
import { useState } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Combobox } from '#components/ui/combobox.tsx';
import type { MenuEntry } from '#components/ui/dropdown-menu.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';

type Kind = 'route' | 'secret' | 'client';
type Candidate = { id: string; name: string; collection_id: string | null };

/** What a change of members is seen in: the collection with its counts, and the lists of what moved. */
export function useMembersChanged(): () => Promise<unknown> {
  const trpc = useTRPC();
  const cache = useQueryClient();
  return () =>
    Promise.all([trpc.collections, trpc.routes, trpc.secrets, trpc.clients].map((one) => cache.invalidateQueries(one.pathFilter())));
}

type AddMemberProps = {
  collectionId: string;
  type: Kind;
  /** What the search found; members are left out here. */
  found: readonly Candidate[] | undefined;
  loading: boolean;
  onQuery: (query: string) => void;
  readOnly: string | undefined;
};

/** Finds one of all routes, secrets or clients of the space by name and takes it in. */
export function AddMember({ collectionId, type, found, loading, onQuery, readOnly }: AddMemberProps) {
  const trpc = useTRPC();
  const changed = useMembersChanged();
  // A picker forgets its choice at once: the next one starts empty.
  const [round, setRound] = useState(0);
  const move = useMutation(trpc.collections.moveMembers.mutationOptions({ onSuccess: changed }));
  return (
    <div className="flex w-full flex-col gap-1 sm:w-80">
      <Combobox
        key={round}
        label={`Add a ${type}`}
        placeholder={`Add a ${type}…`}
        emptyText={`No matching ${type}.`}
        loading={loading}
        disabled={readOnly !== undefined || move.isPending}
        options={(found ?? [])
          .filter((one) => one.collection_id !== collectionId)
          .map(({ id, name, collection_id }) => ({
            value: id,
            label: name,
            ...(collection_id ? { detail: 'Moves from another collection' } : {}),
          }))}
        value={null}
        onQueryChange={onQuery}
        onValueChange={(id) => {
          if (!id) return;
          setRound(round + 1);
          onQuery('');
          move.mutate({ id: collectionId, type, ids: [id] });
        }}
      />
      {readOnly && <p className="text-ink-3 text-xs">{readOnly}</p>}
      <MutationError error={move.error} />
    </div>
  );
}

/** The row's way out of the collection; nothing else about it changes. */
export const takeOut = (name: string, readOnly: string | undefined, leave: () => Promise<unknown>): MenuEntry => ({
  label: 'Remove from collection',
  icon: <FolderMinus />,
  disabledReason: readOnly,
  onSelect: () =>
    void leave().then(
      () => notifyDone(`Removed ${name} from the collection`),
      () => undefined,
    ),
});
