'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link2, Plus } from 'lucide-react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { EmptyState } from '#components/ui/states.tsx';
import type { RouteDetailData } from './route-data.ts';

/** In the place of a tab, where the chosen environment is not served by the route. */
export function ServeHere({ route, env, readOnly }: { route: RouteDetailData; env: string; readOnly: string | undefined }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const put = useMutation(
    trpc.routes.putEnvironment.mutationOptions({
      onSuccess: () =>
        Promise.all([cache.invalidateQueries(trpc.routes.pathFilter()), cache.invalidateQueries(trpc.collections.syncStatus.pathFilter())]),
    }),
  );
  return (
    <>
      <EmptyState
        icon={<Link2 />}
        title={`Not served in ${env}`}
        action={
          <Button
            variant="primary"
            icon={<Plus />}
            loading={put.isPending}
            disabledReason={readOnly}
            onClick={() => put.mutate({ id: route.id, env })}
          >
            Serve {env}
          </Button>
        }
      >
        Calls that name {env} are refused; there is no silent fall-back. Served here, it starts with everything from{' '}
        {route.base_environment}, with the secrets’ values of {env}.
      </EmptyState>
      <MutationError error={put.error} />
    </>
  );
}
