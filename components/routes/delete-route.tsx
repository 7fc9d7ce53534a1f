'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { inferRouterOutputs } from '@trpc/server';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { counted, grouped } from '#components/ui/numbers.ts';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { AppRouter } from '#server/trpc/root.ts';

export type DeleteRouteProps = {
  route: { id: string; name: string; slug: string | null } | undefined;
  onClose: () => void;
  onDeleted?: () => void;
};

/** Says what stops working before it deletes. The route given is the one asked about; undefined closes the dialog. */
export function DeleteRoute({ route, onClose, onDeleted }: DeleteRouteProps) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { space, proxy_url } = useScope();
  const impact = useQuery(trpc.routes.impact.queryOptions({ id: route?.id ?? '' }, { enabled: route !== undefined, staleTime: 0 }));
  const remove = useMutation(
    trpc.routes.delete.mutationOptions({
      onSuccess: async () => {
        notifyDone(`“${route?.name ?? 'The route'}” was deleted`);
        onClose();
        onDeleted?.();
        await Promise.all([cache.invalidateQueries(trpc.routes.list.pathFilter()), cache.invalidateQueries(trpc.account.pathFilter())]);
      },
    }),
  );
  const close = () => {
    remove.reset();
    onClose();
  };
  return (
    <ConfirmDanger
      open={route !== undefined}
      onOpenChange={(open) => !open && close()}
      space={space}
      title={`Delete route “${route?.name ?? ''}”?`}
      resourceName={route?.name ?? ''}
      confirmLabel="Delete route"
      consequences={
        impact.data || impact.error
          ? [
              ...(impact.data ? traffic(impact.data) : []),
              `Calls to ${proxy_url}/${route?.slug ?? route?.id ?? ''} are refused with 404 from the next second on.`,
              impact.data
                ? `Its settings in ${impact.data.environments.join(', ')} ${impact.data.assigned_clients > 0 ? `and the assignment of ${counted(impact.data.assigned_clients, 'client')} are` : 'are'} gone for good.`
                : 'Its settings and its client assignments are gone for good.',
              impact.data && impact.data.secrets.length > 0 ? secretsLeft(impact.data.secrets) : 'Request logs keep the route’s name.',
            ]
          : undefined
      }
      onConfirm={() => route && remove.mutate({ id: route.id })}
      busy={remove.isPending}
      error={remove.error ? refusalOf(remove.error) : undefined}
    >
      {route && <ApiEquivalent method="DELETE" path={`/routes/${route.id}`} />}
    </ConfirmDanger>
  );
}

type Impact = inferRouterOutputs<AppRouter>['routes']['impact'];
/** Who called it, by name: the people to ask before it is gone. */
function traffic({ calls_24h, callers }: Impact): string[] {
  if (calls_24h === 0) return ['Nobody called it in the last 24 hours.'];
  const names = callers.map((caller) => `${caller.name ?? 'something deleted since'} (${grouped(caller.calls)})`);
  return [`It took ${counted(calls_24h, 'call')} in the last 24 hours${names.length > 0 ? `, from ${names.join(', ')}` : ''}.`];
}

function secretsLeft(secrets: Impact['secrets']): string {
  const alone = secrets.filter((secret) => !secret.used_elsewhere).map((secret) => secret.name);
  if (alone.length === 0) return 'The secrets it used stay; other routes use them too. Request logs keep the route’s name.';
  return `${alone.join(', ')} ${alone.length === 1 ? 'stays, and nothing else uses it' : 'stay, and nothing else uses them'}. Request logs keep the route’s name.`;
}
