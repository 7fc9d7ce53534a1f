'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Switch } from '#components/ui/choices.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';

/** The rule that every member needs a second factor. */
export function RequireFactor() {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { role } = useScope();
  const settings = useQuery(trpc.account.settings.queryOptions({}));
  const update = useMutation(
    trpc.account.updateSettings.mutationOptions({
      onSuccess: (now) => {
        cache.setQueryData(trpc.account.settings.queryKey({}), now);
        notifyDone(now.require_mfa ? 'Second factor required' : 'Second factor optional');
      },
    }),
  );
  if (!settings.data) return null;
  return (
    <SectionCard title="Sign-in security">
      <div className="flex flex-col gap-3">
        <Switch
          checked={settings.data.require_mfa}
          onCheckedChange={(require_mfa) => update.mutate({ require_mfa })}
          label="Require a second factor"
          description="Members without a passkey or an authenticator app can’t use the workspace until they add one."
          disabledReason={role === 'owner' ? undefined : 'Only an Owner can change this.'}
        />
        <MutationError error={update.error} />
      </div>
    </SectionCard>
  );
}
