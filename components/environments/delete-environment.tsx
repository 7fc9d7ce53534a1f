'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import Link from 'next/link';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { textLink } from '#components/ui/layout.tsx';
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
  const routes = useQuery(trpc.routes.list.queryOptions({ environment: name, per_page: 6 }, { enabled }));
  const secrets = useQuery(trpc.secrets.list.queryOptions({ per_page: 100 }, { enabled }));
  const remove = useMutation(
    trpc.environments.delete.mutationOptions({
      onSuccess: async () => {
        notifyDone(`${environment?.display_name ?? name} was deleted`);
        onClose();
        await Promise.all([cache.invalidateQueries(trpc.environments.pathFilter()), cache.invalidateQueries(trpc.account.pathFilter())]);
      },
    }),
  );
  const close = () => {
    remove.reset();
    onClose();
  };
  const holding = secrets.data?.data.filter((secret) => secret.environment_names.includes(name)) ?? [];
  const serving = routes.data?.data ?? [];
  const used = serving.length > 0 || holding.length > 0;
  const refused = remove.error && refusalOf(remove.error);
  const asked = (routes.data || routes.error) && (secrets.data || secrets.error);
  return (
    <ConfirmDanger
      open={enabled}
      onOpenChange={(open) => !open && close()}
      space={space}
      title={`Delete environment “${environment?.display_name ?? ''}”?`}
      resourceName={name}
      confirmLabel="Delete environment"
      consequences={
        asked
          ? used
            ? [
                ...(serving.length > 0
                  ? [
                      <Users
                        key="routes"
                        what="Routes serve it"
                        total={routes.data?.meta.total ?? 0}
                        items={serving.map((r) => ({ id: r.id, name: r.name, href: path(`/routes/${r.id}?env=${name}&tab=settings`) }))}
                      />,
                    ]
                  : []),
                ...(holding.length > 0
                  ? [
                      <Users
                        key="secrets"
                        what="Secrets hold a value for it"
                        total={holding.length}
                        items={holding.slice(0, 6).map((s) => ({ id: s.id, name: s.name, href: path(`/secrets/${s.id}`) }))}
                      />,
                    ]
                  : []),
              ]
            : [`Calls that name ${name} are refused; nothing uses it now.`, 'Request logs keep its name.']
          : undefined
      }
      blockedReason={used ? 'Something still uses it' : undefined}
      onConfirm={() => environment && remove.mutate({ id: environment.id })}
      busy={remove.isPending}
      error={refused ? { message: refused.message, request_id: refused.request_id || undefined } : undefined}
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
      {total > items.length && ` and ${(total - items.length).toString()} more`}. Take it out there first.
    </>
  );
}
