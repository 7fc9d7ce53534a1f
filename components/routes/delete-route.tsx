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
        notifyDone(`${route?.name ?? 'Route'} deleted`);
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
      title={`Delete “${route?.name ?? ''}”?`}
      resourceName={route?.name ?? ''}
      confirmLabel="Delete route"
      consequences={
        impact.data || impact.error
          ? [
              ...(impact.data ? traffic(impact.data) : []),
              `Calls to ${proxy_url}/${route?.slug ?? route?.id ?? ''} get 404 immediately.`,
              impact.data
                ? `Its settings in ${impact.data.environments.join(', ')}${impact.data.assigned_clients > 0 ? ` and the assignment of ${counted(impact.data.assigned_clients, 'client')}` : ''} are permanently deleted.`
                : 'Its settings and client assignments are permanently deleted.',
              impact.data && impact.data.secrets.length > 0 ? secretsLeft(impact.data.secrets) : 'Request logs are kept.',
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
/** Recent callers by name, to ask before deleting. */
function traffic({ calls_24h, callers }: Impact): string[] {
  if (calls_24h === 0) return ['No calls in the last 24 hours.'];
  const names = callers.map((caller) => `${caller.name ?? 'a deleted caller'} (${grouped(caller.calls)})`);
  return [`${counted(calls_24h, 'call')} in the last 24 hours${names.length > 0 ? `, from ${names.join(', ')}` : ''}.`];
}

function secretsLeft(secrets: Impact['secrets']): string {
  const alone = secrets.filter((secret) => !secret.used_elsewhere).map((secret) => secret.name);
  if (alone.length === 0) return 'Its secrets are kept because other routes use them. Request logs are kept.';
  return `${alone.join(', ')} ${alone.length === 1 ? 'is' : 'are'} kept but no longer used by any route. Request logs are kept.`;
}
