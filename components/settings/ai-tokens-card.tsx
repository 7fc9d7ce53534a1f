'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { listOf } from '#components/secrets/secret-text.ts';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError, QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Switch } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { Textarea } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';

/** Rules for the capability tokens of agents: what ends with a person, and which changes of place say nothing. */
export function AiTokensCard() {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const settings = useQuery(trpc.account.settings.queryOptions({}));
  const forbidden = useForbidden('settings:update');
  const [typed, setTyped] = useState<string>();
  const update = useMutation(
    trpc.account.updateSettings.mutationOptions({
      onSuccess: (saved) => {
        queryClient.setQueryData(trpc.account.settings.queryKey({}), saved);
        setTyped(undefined);
        notifyDone('Saved');
      },
    }),
  );
  const busy = forbidden ?? (update.isPending ? 'Saving' : undefined);
  if (settings.isError) return <QueryError query={settings} what="The rules for tokens of agents" />;
  const stored = settings.data?.trusted_egress_cidrs.join('\n') ?? '';
  const text = typed ?? stored;
  return (
    <SectionCard title="Tokens of agents" description="For the capability tokens of every AI gateway, in Live and Test.">
      {!settings.data ? (
        <Skeleton lines={3} label="Loading the rules for tokens of agents" />
      ) : (
        <div className="flex flex-col gap-4">
          <Switch
            label="Revoke a person’s tokens when they leave"
            description="Tokens that a member minted end with their membership. Turn it off only if programs depend on such tokens."
            checked={settings.data.revoke_on_offboarding}
            disabledReason={busy}
            onCheckedChange={(revoke_on_offboarding) => update.mutate({ revoke_on_offboarding })}
          />
          <Field
            label="Trusted egress addresses"
            optional
            hint="Addresses and ranges of CI runners and cloud NATs, one per line. A token that moves between them is never flagged for impossible travel."
          >
            <Textarea
              mono
              rows={3}
              readOnly={forbidden !== undefined}
              placeholder="203.0.113.0/24"
              value={text}
              onChange={({ target }) => setTyped(target.value)}
            />
          </Field>
          <MutationError error={update.error} />
          <div>
            <Button
              disabledReason={busy ?? (text === stored ? 'No changes to save' : undefined)}
              onClick={() => update.mutate({ trusted_egress_cidrs: listOf(text) })}
            >
              Save addresses
            </Button>
          </div>
          <ApiEquivalent method="PATCH" path="/admin/settings" body={{ trusted_egress_cidrs: listOf(text) }} />
        </div>
      )}
    </SectionCard>
  );
}
