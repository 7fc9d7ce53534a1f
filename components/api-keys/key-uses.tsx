'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { type Key, roleName } from './key-labels.ts';

/** What a key really used of what it may do, and the narrower roles that would cover it. */
export function KeyUses({ apiKey }: { apiKey: Key }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const readOnly = useForbidden('api_key:update');
  const query = useQuery(trpc.apiKeys.uses.queryOptions({ id: apiKey.id }));
  const narrow = useMutation(
    trpc.apiKeys.update.mutationOptions({
      onSettled: () => queryClient.invalidateQueries(trpc.apiKeys.pathFilter()),
      onSuccess: ({ name }) => {
        notifyDone(`${name} now has only the permissions it uses`);
      },
    }),
  );
  if (!query.data) return null;
  const { held, used, narrower_role_ids } = query.data;
  return (
    <section className="flex flex-col gap-2">
      <h3 className="font-semibold">
        {used.length} of {held} permissions used
      </h3>
      {used.length === 0 ? (
        <p className="text-ink-2">Not used yet. After some use, this suggests a narrower role.</p>
      ) : (
        <ul className="flex flex-wrap gap-1">
          {used.map(({ capability, last_used_at }) => (
            <li key={capability} className="flex items-center gap-1">
              <Badge mono>{capability}</Badge>
              <Time value={last_used_at} className="text-ink-3 text-xs" />
            </li>
          ))}
        </ul>
      )}
      {apiKey.active && narrower_role_ids && (
        <div className="flex flex-col gap-2 rounded-lg border border-line-strong bg-subtle px-3 py-2.5">
          <p>
            The <b className="font-medium">{narrower_role_ids.map(roleName).join(' and ')}</b>{' '}
            {narrower_role_ids.length === 1 ? 'role covers' : 'roles cover'} everything this key has done.
          </p>
          <p className="text-ink-3 text-xs">Rare operations may not be recorded yet. You can change the roles back at any time.</p>
          <MutationError error={narrow.error} />
          <Button
            size="sm"
            className="self-start"
            disabledReason={readOnly}
            loading={narrow.isPending}
            onClick={() => narrow.mutate({ id: apiKey.id, role_ids: narrower_role_ids, expected_updated_at: apiKey.updated_at })}
          >
            Change to {narrower_role_ids.map(roleName).join(' and ')}
          </Button>
        </div>
      )}
    </section>
  );
}
