'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { UserRoundMinus } from 'lucide-react';
import { useState } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError, QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { IconButton } from '#components/ui/button.tsx';
import { Combobox } from '#components/ui/combobox.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { MOST_OWNERS } from '#server/domain/collections/owners.shared.ts';

/** Who answers for the collection: whom to ask, and no right of its own. */
export function OwnersCard({ collectionId }: { collectionId: string }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const readOnly = useForbidden('collection:update');
  // A picker forgets its choice at once: the next one starts empty.
  const [round, setRound] = useState(0);
  const query = useQuery(trpc.collections.owners.queryOptions({ id: collectionId }));
  const put = useMutation(
    trpc.collections.putOwners.mutationOptions({
      onSuccess: (now) => {
        cache.setQueryData(trpc.collections.owners.queryKey({ id: collectionId }), now);
        return Promise.all([
          cache.invalidateQueries(trpc.collections.overview.pathFilter()),
          cache.invalidateQueries(trpc.collections.get.queryFilter({ id: collectionId })),
        ]);
      },
    }),
  );
  if (query.error && !query.data) return <QueryError query={query} what="Owners" />;
  if (!query.data) return <Skeleton lines={3} label="Loading owners" />;
  const { owners, members } = query.data;
  const save = (user_ids: string[]) => put.mutate({ id: collectionId, user_ids });
  const ids = owners.map(({ id }) => id);
  const locked = readOnly ?? (owners.length >= MOST_OWNERS ? `${MOST_OWNERS} owners are the most.` : undefined);
  return (
    <SectionCard title="Owners" description="Who to contact about this collection. Ownership grants no permissions.">
      <div className="flex flex-col gap-3">
        {owners.length === 0 ? (
          <p className="text-ink-3">No owners yet.</p>
        ) : (
          <ul className="flex w-full flex-col gap-1 sm:w-80">
            {owners.map(({ id, name }) => (
              <li key={id} className="flex items-center gap-2">
                <span className="min-w-0 flex-1 truncate">{name}</span>
                <IconButton
                  size="sm"
                  label={`Remove ${name} as owner`}
                  icon={<UserRoundMinus />}
                  disabledReason={readOnly}
                  onClick={() => save(ids.filter((one) => one !== id))}
                />
              </li>
            ))}
          </ul>
        )}
        <div className="w-full sm:w-80">
          <Combobox
            key={round}
            label="Add owner"
            placeholder="Add owner…"
            emptyText="No matching member."
            disabled={locked !== undefined || put.isPending}
            options={members.filter(({ id }) => !ids.includes(id)).map(({ id, name }) => ({ value: id, label: name }))}
            value={null}
            onValueChange={(id) => {
              if (!id) return;
              setRound(round + 1);
              save([...ids, id]);
            }}
          />
          {locked && <p className="mt-1 text-ink-3 text-xs">{locked}</p>}
        </div>
        <MutationError error={put.error} />
      </div>
    </SectionCard>
  );
}
