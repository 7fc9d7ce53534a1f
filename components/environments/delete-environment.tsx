'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { counted, grouped } from '#components/ui/numbers.ts';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { EnvironmentRow } from './environment-form.tsx';

/** What uses the environment is asked first: while anything does, it cannot go, and the dialog says what to change. */
export function DeleteEnvironment({ environment, onClose }: { environment: EnvironmentRow | undefined; onClose: () => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const path = usePath();
  const { space } = useScope();
  const enabled = environment !== undefined;
  const name = environment?.name ?? '';
  const impact = useQuery(trpc.environments.impact.queryOptions({ id: environment?.id ?? '' }, { enabled, gcTime: 0 }));
  const remove = useMutation(
    trpc.environments.delete.mutationOptions({
      onSuccess: async () => {
        notifyDone(`${environment?.display_name ?? name} deleted`);
        onClose();
        await Promise.all([cache.invalidateQueries(trpc.environments.pathFilter()), cache.invalidateQueries(trpc.account.pathFilter())]);
      },
    }),
  );
  const close = () => {
    remove.reset();
    onClose();
  };
  const found = impact.data;
  const used = found !== undefined && found.routes + found.secrets > 0;
  return (
    <ConfirmDanger
      open={enabled}
      onOpenChange={(open) => !open && close()}
      space={space}
      title={`Delete “${environment?.display_name ?? ''}”?`}
      resourceName={name}
      confirmLabel="Delete environment"
      consequences={
        impact.error
          ? ['Could not check what uses this environment. It’s only deleted if nothing does.']
          : found && [
              ...(found.routes > 0
                ? [
                    <Users
                      key="routes"
                      what={`Used by ${counted(found.routes, 'route')}, ${grouped(found.overrides)} with overrides`}
                      total={found.routes}
                      items={found.some_routes.map((r) => ({ ...r, href: path(`/routes/${r.id}?env=${name}&tab=settings`) }))}
                    />,
                  ]
                : []),
              ...(found.secrets > 0
                ? [
                    <Users
                      key="secrets"
                      what={`Used by ${counted(found.secrets, 'secret')} with a value`}
                      total={found.secrets}
                      items={found.some_secrets.map((s) => ({ ...s, href: path(`/secrets/${s.id}`) }))}
                    />,
                  ]
                : []),
              ...(found.clients > 0 ? [`${counted(found.clients, 'client')} assigned.`] : []),
              ...(used ? [] : [`Calls to ${name} get 404.`, 'Request logs are kept.']),
            ]
      }
      blockedReason={used ? 'Remove it from routes and secrets first' : undefined}
      onConfirm={() => environment && remove.mutate({ id: environment.id })}
      busy={remove.isPending}
      error={remove.error ? refusalOf(remove.error) : undefined}
    >
      {environment && <ApiEquivalent method="DELETE" path={`/environments/${environment.id}`} />}
    </ConfirmDanger>
  );
}

function Users({ what, total, items }: { what: string; total: number; items: readonly { id: string; name: string; href: string }[] }) {
  return (
    <>
      {what}:{' '}
      {items.map((item, index) => (
        <span key={item.id}>
          {index > 0 && ', '}
          <Link href={item.href} className={textLink}>
            {item.name}
          </Link>
        </span>
      ))}
      {total > items.length && ` and ${(total - items.length).toString()} more`}. Remove it there first.
    </>
  );
}
