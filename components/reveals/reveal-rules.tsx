'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError, QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Switch } from '#components/ui/choices.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';

const RULES = [
  {
    name: 'require_reveal_reason',
    label: 'Require a reason',
    description: 'Nothing is revealed until the person says why. The reason is recorded in the audit log.',
  },
  {
    name: 'escrow_never_reveal',
    label: 'Never reveal wrap credentials',
    description: 'Keys in escrow are only ever used. Nobody is shown their values, whatever their role.',
  },
  {
    name: 'details_withheld',
    label: 'Withhold audit details',
    description: 'Owners and Admins see what an audit entry changed only as a reveal, entry by entry. Lists and exports leave it out.',
  },
] as const;

/** The workspace's own rules for reveals; they apply at once. */
export function RevealRules() {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const settings = useQuery(trpc.account.settings.queryOptions({}));
  const forbidden = useForbidden('settings:update');
  const update = useMutation(
    trpc.account.updateSettings.mutationOptions({
      onSuccess: (saved) => {
        queryClient.setQueryData(trpc.account.settings.queryKey({}), saved);
        void queryClient.invalidateQueries(trpc.reveals.pathFilter());
        void queryClient.invalidateQueries(trpc.auditLogs.pathFilter());
        notifyDone('Saved');
      },
    }),
  );
  return (
    <SectionCard title="Rules" description="For every member of this workspace, in Live and Test.">
      {settings.isError ? (
        <QueryError query={settings} what="The rules" />
      ) : !settings.data ? (
        <Skeleton lines={3} label="Loading the rules" />
      ) : (
        <div className="flex flex-col gap-4">
          {RULES.map(({ name, label, description }) => (
            <Switch
              key={name}
              label={label}
              description={description}
              checked={settings.data[name]}
              disabledReason={forbidden ?? (update.isPending ? 'Saving' : undefined)}
              onCheckedChange={(on) => update.mutate({ [name]: on })}
            />
          ))}
          <MutationError error={update.error} />
        </div>
      )}
    </SectionCard>
  );
}
