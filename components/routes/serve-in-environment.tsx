'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link2, Plus } from 'lucide-react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { useEnvironmentLabel } from '#components/ui/environment-label.ts';
import type { RouteDetailData } from './route-data.ts';

/** In place of a tab, when the route has no configuration for the chosen environment. */
export function ServeInEnvironment({ route, env, readOnly }: { route: RouteDetailData; env: string; readOnly: string | undefined }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const label = useEnvironmentLabel();
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
        title={`Not configured in ${label(env)}`}
        action={
          <Button
            variant="primary"
            icon={<Plus />}
            loading={put.isPending}
            disabledReason={readOnly}
            onClick={() => put.mutate({ id: route.id, env })}
          >
            Add {label(env)}
          </Button>
        }
      >
        Calls in {label(env)} get 404. Add it to inherit all settings from {label(route.base_environment ?? 'the base')} and use the secret
        values of {label(env)}.
      </EmptyState>
      <MutationError error={put.error} />
    </>
  );
}
