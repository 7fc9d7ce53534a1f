'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError, QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Switch } from '#components/ui/choices.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';

/** What credentials of machines must look like; applies from the next request. */
export function TokenRules() {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const settings = useQuery(trpc.account.settings.queryOptions({}));
  const forbidden = useForbidden('settings:update');
  const update = useMutation(
    trpc.account.updateSettings.mutationOptions({
      onSuccess: (saved) => {
        queryClient.setQueryData(trpc.account.settings.queryKey({}), saved);
        notifyDone('Saved');
      },
    }),
  );
  const disabledReason = forbidden ?? (update.isPending ? 'Saving' : undefined);
  return (
    <SectionCard title="API credentials" description="For every key and application of this workspace, in Live and Test.">
      {settings.isError ? (
        <QueryError query={settings} what="The rules" />
      ) : !settings.data ? (
        <Skeleton lines={3} label="Loading the rules" />
      ) : (
        <div className="flex flex-col gap-4">
          <Switch
            label="Require access tokens"
            description="The Management API refuses API keys with use_oauth, from the next request. Programs must exchange their key for a token at /oauth/token first. Calls to routes aren’t affected."
            checked={settings.data.legacy_key_auth === 'disabled'}
            disabledReason={disabledReason}
            onCheckedChange={(required) => update.mutate({ legacy_key_auth: required ? 'disabled' : 'enabled' })}
          />
          <Switch
            label="Require a nonce in DPoP proofs"
            description="Proofs can’t be made in advance. Clients must repeat a request that is refused with use_dpop_nonce. Clients that don’t support this stop working."
            checked={settings.data.dpop_nonce_required}
            disabledReason={disabledReason}
            onCheckedChange={(dpop_nonce_required) => update.mutate({ dpop_nonce_required })}
          />
          <MutationError error={update.error} />
        </div>
      )}
    </SectionCard>
  );
}
