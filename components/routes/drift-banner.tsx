'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { RefreshCw } from 'lucide-react';
import { describeDrift } from '#components/collections/drift-text.ts';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { notifyDone } from '#components/ui/toaster.tsx';

const SHOWN = 4;

/** What of a route differs from the defaults of its collection, with the way back; nothing while it is in step. */
export function DriftBanner({ routeId, collectionId }: { routeId: string; collectionId: string }) {
  const trpc = useTRPC();
  const path = usePath();
  const cache = useQueryClient();
  const readOnly = useForbidden('collection:update');
  const collection = useQuery(trpc.collections.get.queryOptions({ id: collectionId }, { staleTime: 60_000 }));
  const expects = (collection.data?.expected_environments.length ?? 0) > 0;
  const sync = useQuery(trpc.collections.syncStatus.queryOptions({ id: collectionId, route_id: routeId }, { enabled: expects }));
  const reset = useMutation(
    trpc.collections.resetRoute.mutationOptions({
      onSuccess: async () => {
        notifyDone('Route synced with its collection');
        await Promise.all([cache.invalidateQueries(trpc.routes.pathFilter()), cache.invalidateQueries(trpc.collections.pathFilter())]);
      },
    }),
  );
  const drift = sync.data?.data[0]?.drift ?? [];
  if (!collection.data || drift.length === 0) return null;
  const rest = drift.length - SHOWN;
  return (
    <Callout
      tone="warn"
      title="This route doesn’t match its collection"
      actions={
        <Button
          size="sm"
          icon={<RefreshCw />}
          loading={reset.isPending}
          disabledReason={readOnly}
          onClick={() => reset.mutate({ id: collectionId, routeId })}
        >
          Sync
        </Button>
      }
    >
      <Link href={path(`/collections/${collectionId}?tab=environments`)} className={textLink}>
        {collection.data.name}
      </Link>
      {' expects: '}
      {drift
        .slice(0, SHOWN)
        .map((one) => describeDrift(one))
        .join('; ')}
      {rest > 0 && `; and ${grouped(rest)} more`}. Syncing adds missing settings and sets base URLs. Nothing is removed.
      <MutationError error={reset.error} />
    </Callout>
  );
}
