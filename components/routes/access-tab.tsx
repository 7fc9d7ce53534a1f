'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { usePath, useTRPC, useTRPCClient } from '#components/trpc/provider.tsx';
import { MutationError, QueryError } from '#components/trpc/query-error.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { MultiCombobox } from '#components/ui/combobox.tsx';
import { useEnvironmentLabel } from '#components/ui/environment-label.ts';
import { Field } from '#components/ui/field.tsx';
import { Textarea } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { AllowedMethodsCard } from './allowed-methods-card.tsx';
import { RateLimitCard } from './rate-limit-card.tsx';
import { Setting } from './setting.tsx';
import { SignatureCard } from './signature-card.tsx';
import type { ConfigEditor } from './use-config-editor.ts';

/** Who can call a route in one environment, with which methods and how often. */
export function AccessTab({ editor, reference }: { editor: ConfigEditor; reference: string }) {
  return (
    <>
      <SectionCard title="Callers" description="Callers need an API key. These rules apply in addition.">
        <div className="flex flex-col gap-6">
          <Setting
            editor={editor}
            field="requires_clients"
            label="Clients"
            group
            hint={editor.isBase ? 'Applies to all environments of this route.' : undefined}
          >
            {({ value, set, disabled }) => (
              <Checkbox checked={value} onCheckedChange={set} disabled={disabled} label="Require an assigned client" />
            )}
          </Setting>
          <Setting
            editor={editor}
            field="ip_allowlist"
            label="IP allowlist"
            hint="One IP address or CIDR range per line, up to 100. Leave empty to allow any."
          >
            {({ value, set, disabled }) => (
              <Textarea
                mono
                rows={3}
                placeholder={'203.0.113.0/24\n2001:db8::/32'}
                defaultValue={value.join('\n')}
                key={disabled ? value.join() : editor.env}
                disabled={disabled}
                onChange={(event) => set(event.target.value.split(/[\s,]+/).filter(Boolean))}
              />
            )}
          </Setting>
        </div>
      </SectionCard>
      <AssignedClients key={editor.env} editor={editor} />
      <SignatureCard editor={editor} reference={reference} />
      <AllowedMethodsCard editor={editor} />
      <RateLimitCard editor={editor} />
    </>
  );
}

/** A card of its own, because assignments are saved immediately. */
function AssignedClients({ editor }: { editor: ConfigEditor }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const cache = useQueryClient();
  const path = usePath();
  const env = useEnvironmentLabel()(editor.env);
  const place = { id: editor.routeId, env: editor.env };
  const assigned = useQuery(trpc.routes.clients.queryOptions(place));
  const stored = assigned.data?.data ?? [];
  const clients = useQuery(trpc.clients.list.queryOptions({ per_page: 100 }));
  // Only the difference is sent: the whole list, as this page last saw it, would take away what somebody else assigned since.
  const set = useMutation({
    mutationFn: async (wanted: readonly string[]) => {
      const body = { assignments: [{ route_id: editor.routeId, environment_name: editor.env }] };
      const before = stored.map((one) => one.client_id);
      for (const id of wanted.filter((one) => !before.includes(one))) await client.clients.assign.mutate({ id, ...body });
      for (const id of before.filter((one) => !wanted.includes(one))) await client.clients.unassign.mutate({ id, ...body });
    },
    onSettled: () =>
      Promise.all([
        cache.invalidateQueries(trpc.routes.clients.queryFilter(place)),
        cache.invalidateQueries(trpc.clients.pathFilter()),
        cache.invalidateQueries(trpc.collections.syncStatus.pathFilter()),
      ]),
  });
  const ids = set.isPending ? set.variables : stored.map((one) => one.client_id);
  const known = new Map(clients.data?.data.map((c) => [c.id, { value: c.id, label: c.name, detail: c.ip_address }]));
  for (const { client_id, name, ip_address } of stored) known.set(client_id, { value: client_id, label: name, detail: ip_address });
  // What is stored, not what is ticked above and waits to be saved, decides who gets through.
  const required = editor.config.requires_clients;
  return (
    <SectionCard
      title={`Assigned clients in ${env}`}
      description="Changes here are saved immediately."
      actions={
        <LinkButton size="sm" variant="ghost" href={path('/clients')}>
          Manage clients
        </LinkButton>
      }
    >
      {assigned.error ? (
        <QueryError query={assigned} what="Assigned clients" />
      ) : assigned.data ? (
        <div className="flex flex-col gap-2">
          <Field label={`Assigned clients in ${env}`} hideLabel>
            <MultiCombobox
              options={[...known.values()]}
              values={ids}
              onValuesChange={(wanted) => set.mutate(wanted)}
              placeholder="Add a client…"
              emptyText="No matching clients."
              disabled={editor.readOnly !== undefined}
            />
          </Field>
          <p role="status" className="min-h-4.5 text-ink-3 text-xs">
            {set.isPending ? 'Saving…' : set.isSuccess ? 'Saved.' : ''}
          </p>
          {!required && ids.length > 0 && (
            <Callout tone="warn" title="This route ignores its assigned clients.">
              Any caller with a key can use it. To restrict it, turn on “Require an assigned client” and save.
            </Callout>
          )}
          {required && ids.length === 0 && (
            <Callout tone="warn" title={`No caller can use this route in ${env}.`}>
              It requires an assigned client and has none. Assign one above.
            </Callout>
          )}
          <MutationError error={set.error} />
        </div>
      ) : (
        <Skeleton lines={1} label="Loading assigned clients" />
      )}
    </SectionCard>
  );
}
