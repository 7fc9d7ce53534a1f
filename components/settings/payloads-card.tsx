'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Field } from '#components/ui/field.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Select } from '#components/ui/select.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';

const OPTIONS = [
  { value: 'off', label: 'Off', detail: 'Payloads are kept only where a route turns it on' },
  { value: 'errors', label: 'Failed calls', detail: 'Status 400 and above, and calls the gateway refused' },
  { value: 'all', label: 'All calls', detail: 'Every call that was let in' },
] as const;

/** What routes keep of their calls when they don't say otherwise. */
export function PayloadsCard() {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const settings = useQuery(trpc.account.settings.queryOptions({}));
  const forbidden = useForbidden('settings:update');
  const update = useMutation(
    trpc.account.updateSettings.mutationOptions({
      onSuccess: (changed) => {
        cache.setQueryData(trpc.account.settings.queryKey({}), changed);
        notifyDone('Payload default saved');
      },
      onError: (error) => notifyRefused(error),
    }),
  );
  return (
    <SectionCard title="Payloads" description="Headers and bodies of calls, kept encrypted with the log for at most 30 days.">
      {settings.isError ? (
        <QueryError query={settings} what="This setting" />
      ) : !settings.data ? (
        <Skeleton lines={2} label="Loading the setting" />
      ) : (
        <Field
          label="Keep payloads of"
          hint="For routes that use the workspace default, in Live and Test. Each environment of a route can choose otherwise."
          className="max-w-md"
        >
          <Select
            options={OPTIONS}
            value={settings.data.log_payloads_default}
            disabled={forbidden !== undefined || update.isPending}
            onValueChange={(log_payloads_default) => update.mutate({ log_payloads_default })}
          />
        </Field>
      )}
    </SectionCard>
  );
}
