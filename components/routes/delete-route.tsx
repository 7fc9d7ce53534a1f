'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';

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
  const detail = useQuery(trpc.routes.get.queryOptions({ id: route?.id ?? '' }, { enabled: route !== undefined }));
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
  const refused = remove.error && refusalOf(remove.error);
  return (
    <ConfirmDanger
      open={route !== undefined}
      onOpenChange={(open) => !open && close()}
      space={space}
      title={`Delete route “${route?.name ?? ''}”?`}
      resourceName={route?.name ?? ''}
      confirmLabel="Delete route"
      consequences={
        detail.data || detail.error
          ? [
              `Calls to ${proxy_url}/${route?.slug ?? route?.id ?? ''} are refused with 404 from the next second on.`,
              detail.data
                ? `Its settings in ${detail.data.configured_environments.join(', ')} and its client assignments are gone for good.`
                : 'Its settings and its client assignments are gone for good.',
              'Secrets it used stay. Request logs keep the route’s name.',
            ]
          : undefined
      }
      onConfirm={() => route && remove.mutate({ id: route.id })}
      busy={remove.isPending}
      error={refused ? { message: refused.message, request_id: refused.request_id || undefined } : undefined}
    />
  );
}
