'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { z } from 'zod';
import { listOf } from '#components/secrets/secret-text.ts';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Textarea } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Select } from '#components/ui/select.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import type { WorkspaceSettings } from '#server/domain/account/schema.ts';

type Settings = Pick<z.output<typeof WorkspaceSettings>, 'session_idle_minutes' | 'session_max_hours' | 'dashboard_ip_allowlist'>;
const loadFields = () => import('./schemas.ts').then((module) => module.AccessFields);

const NONE = 'none';
const IDLE = [
  { value: NONE, label: 'No workspace limit' },
  { value: '15', label: '15 minutes' },
  { value: '60', label: '1 hour' },
  { value: '240', label: '4 hours' },
  { value: '1440', label: '1 day' },
];
const LENGTH = [
  { value: NONE, label: 'No workspace limit' },
  { value: '8', label: '8 hours' },
  { value: '24', label: '1 day' },
  { value: '72', label: '3 days' },
  { value: '168', label: '7 days' },
];

/** From where, and for how long, members use the dashboard. */
export function AccessCard() {
  const trpc = useTRPC();
  const query = useQuery(trpc.account.settings.queryOptions({}));
  if (query.isError) return <QueryError query={query} what="Dashboard access" />;
  return (
    <SectionCard title="Dashboard access" description="Applies to every member. API keys have limits of their own.">
      {query.data ? <AccessForm settings={query.data} /> : <Skeleton lines={4} label="Loading dashboard access" />}
    </SectionCard>
  );
}

const valuesOf = ({ session_idle_minutes, session_max_hours, dashboard_ip_allowlist }: Settings) => ({
  idle: session_idle_minutes === null ? NONE : String(session_idle_minutes),
  length: session_max_hours === null ? NONE : String(session_max_hours),
  dashboard_ip_allowlist: dashboard_ip_allowlist.join('\n'),
});

/** A value that another client has set is a choice too. */
const withCurrent = (options: typeof IDLE, value: string, unit: string) =>
  options.some((option) => option.value === value) ? options : [...options, { value, label: `${value} ${unit}` }];

function AccessForm({ settings }: { settings: Settings }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const forbidden = useForbidden('settings:update');
  const form = useZodForm({ schema: loadFields, defaultValues: valuesOf(settings) });
  const { refusal, refuse, clear } = useFormRefusal(form);
  const dirty = form.formState.isDirty;
  useUnsavedGuard(dirty);
  const save = useMutation(
    trpc.account.updateSettings.mutationOptions({
      onError: refuse,
      onSuccess: (after) => {
        cache.setQueryData(trpc.account.settings.queryKey({}), after);
        void cache.invalidateQueries(trpc.account.get.pathFilter());
        form.reset(valuesOf(after));
        notifyDone('Dashboard access saved');
      },
    }),
  );
  const numberOf = (value: string) => (value === NONE ? null : Number(value));
  return (
    <Form
      form={form}
      refusal={refusal}
      onSubmit={({ idle, length, dashboard_ip_allowlist }) => {
        clear();
        save.mutate({
          session_idle_minutes: numberOf(idle),
          session_max_hours: numberOf(length),
          dashboard_ip_allowlist: listOf(dashboard_ip_allowlist),
        });
      }}
      className="max-w-md"
    >
      <Field
        label="Inactivity limit"
        hint="Members are signed out after this long without activity. Without a limit here: 12 hours, or 14 days with “keep me signed in”."
      >
        <Select
          options={withCurrent(IDLE, form.watch('idle'), 'minutes')}
          value={form.watch('idle')}
          onValueChange={(value) => form.setValue('idle', value, { shouldDirty: true })}
        />
      </Field>
      <Field
        label="Session length"
        hint="Members must sign in again after this long, however active they are. Ends the session in all of their workspaces."
      >
        <Select
          options={withCurrent(LENGTH, form.watch('length'), 'hours')}
          value={form.watch('length')}
          onValueChange={(value) => form.setValue('length', value, { shouldDirty: true })}
        />
      </Field>
      <Field
        label="Allowed IP addresses"
        optional
        error={fieldError(form, 'dashboard_ip_allowlist')}
        hint="One IP address or CIDR range per line. Leave empty to allow any. It must include your own address."
      >
        <Textarea mono rows={4} {...form.register('dashboard_ip_allowlist')} />
      </Field>
      <div>
        <Button
          type="submit"
          variant="primary"
          loading={save.isPending}
          disabledReason={forbidden ?? (dirty ? undefined : 'No changes to save')}
        >
          Save
        </Button>
      </div>
    </Form>
  );
}
