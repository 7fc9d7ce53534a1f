'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Switch } from '#components/ui/choices.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';

/** Whether members may log in with the command line, and with applications that the workspace hasn't registered. */
export function CommandLineCard() {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const settings = useQuery(trpc.account.settings.queryOptions({}));
  const forbidden = useForbidden('settings:update');
  const update = useMutation(
    trpc.account.updateSettings.mutationOptions({
      onSuccess: (changed) => {
        cache.setQueryData(trpc.account.settings.queryKey({}), changed);
        notifyDone('Setting saved');
      },
      onError: (error) => notifyRefused(error),
    }),
  );
  return (
    <SectionCard title="Applications" description="Applications log in as a member, with the permissions of their role.">
      {settings.isError ? (
        <QueryError query={settings} what="This setting" />
      ) : !settings.data ? (
        <Skeleton lines={2} label="Loading the setting" />
      ) : (
        <div className="flex flex-col gap-4">
          <Switch
            label="Members can log in with service-cli"
            description="Turning this off refuses new logins. Logins that exist end under OAuth clients, or when their member disconnects them."
            checked={settings.data.cli_login_enabled}
            disabledReason={forbidden ?? (update.isPending ? 'Saving' : undefined)}
            onCheckedChange={(cli_login_enabled) => update.mutate({ cli_login_enabled })}
          />
          <Switch
            label="Members can sign in to MCP servers with unregistered applications"
            description="Editors and assistants that describe themselves at a URL of their own. Turning this off also stops existing logins from being renewed."
            checked={settings.data.allow_client_id_documents}
            disabledReason={forbidden ?? (update.isPending ? 'Saving' : undefined)}
            onCheckedChange={(allow_client_id_documents) => update.mutate({ allow_client_id_documents })}
          />
        </div>
      )}
    </SectionCard>
  );
}
