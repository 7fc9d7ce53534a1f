'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import type { z } from 'zod';
import { environmentOptions, useEnvironments } from '#components/secrets/use-environments.ts';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { Combobox } from '#components/ui/combobox.tsx';
import { useEnvironmentLabel } from '#components/ui/environment-label.ts';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import { Select } from '#components/ui/select.tsx';
import { Sheet } from '#components/ui/sheet.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { AcceptOpportunity } from '#server/domain/opportunities/schema.ts';
import type { OpportunityRow } from './evidence.ts';

const FORM = 'accept-opportunity';

/** Makes the route of a suggestion: which secret it injects, where, and whether SDKs use it at once. */
export function AcceptSheet({ opportunity, onClose }: { opportunity: OpportunityRow | undefined; onClose: () => void }) {
  const [busy, setBusy] = useState(false);
  return (
    <Sheet
      open={opportunity !== undefined}
      onOpenChange={(next) => next || onClose()}
      title={`Accept ${opportunity?.destination_host ?? ''}`}
      description="Creates a route for this host that injects a stored secret."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" form={FORM} keys="mod+enter" loading={busy}>
            Create route
          </Button>
        </>
      }
    >
      {opportunity && <Fields key={opportunity.id} opportunity={opportunity} onBusy={setBusy} />}
    </Sheet>
  );
}

type Values = z.input<typeof AcceptOpportunity>;

/** An empty field stands for what the server chooses. */
const orNone = { setValueAs: (text: unknown) => text || undefined };

function Fields({ opportunity, onBusy }: { opportunity: OpportunityRow; onBusy: (busy: boolean) => void }) {
  const { id, suggested_route_json: suggested } = opportunity;
  const host = opportunity.destination_host ?? '';
  const trpc = useTRPC();
  const cache = useQueryClient();
  const router = useRouter();
  const path = usePath();
  const label = useEnvironmentLabel();
  const environments = useEnvironments();
  const start: Values = {
    id,
    environment: suggested?.environment,
    collection_name: suggested?.collection_name,
    header_name: suggested?.header_name,
    value_prefix: suggested?.value_prefix,
    route_name: suggested?.name,
    base_path: undefined,
    secret: undefined,
    intercept_enabled: true,
  };
  const form = useZodForm({ schema: AcceptOpportunity, defaultValues: start });
  const { refusal, panel, refuse, clear } = useFormRefusal(form);
  const accept = useMutation(
    trpc.opportunities.accept.mutationOptions({
      onError: refuse,
      onSettled: () => onBusy(false),
      onSuccess: async ({ route }) => {
        notifyDone(`Route ${route.name} created`);
        await Promise.all(
          [trpc.opportunities, trpc.routes, trpc.collections, trpc.account].map((part) => cache.invalidateQueries(part.pathFilter())),
        );
        router.replace(path(`/routes/${route.id}`));
      },
    }),
  );
  const values = form.watch();
  // What was suggested is left out: a credential in escrow knows better where it goes.
  const chosen = (all: Values) =>
    Object.fromEntries(Object.entries(all).filter(([name, value]) => value !== undefined && value !== start[name as keyof Values]));
  return (
    <Form
      id={FORM}
      form={form}
      refusal={refusal}
      onSubmit={async (all) => {
        clear();
        onBusy(true);
        await accept.mutateAsync({ id, ...chosen(all) }).then(undefined, () => undefined);
      }}
    >
      {panel}
      <SecretField
        host={host}
        environment={values.environment}
        value={values.secret ?? null}
        error={fieldError(form, 'secret')}
        onChange={(secret) => form.setValue('secret', secret ?? undefined, { shouldDirty: true, shouldValidate: true })}
      />
      <div className="grid gap-5 sm:grid-cols-2">
        <Field label="Environment" error={fieldError(form, 'environment')} hint="The secret needs a value there.">
          <Select
            options={environmentOptions(environments, label)}
            value={values.environment ?? null}
            onValueChange={(name) => form.setValue('environment', name, { shouldDirty: true })}
          />
        </Field>
        <Field label="Collection" error={fieldError(form, 'collection_name')} hint="Created if it doesn’t exist.">
          <Input {...form.register('collection_name', orNone)} />
        </Field>
        <Field label="Header" error={fieldError(form, 'header_name')} hint="Carries the secret to the host.">
          <Input mono {...form.register('header_name', orNone)} />
        </Field>
        <Field label="Text before the secret" optional error={fieldError(form, 'value_prefix')} hint="For example, “Bearer ” with a space.">
          <Input mono {...form.register('value_prefix')} />
        </Field>
        <Field label="Route name" error={fieldError(form, 'route_name')} hint="The slug is derived from it.">
          <Input {...form.register('route_name', orNone)} />
        </Field>
        <Field label="Base path" optional error={fieldError(form, 'base_path')} hint="Limits the route to a part of the host.">
          <Input mono placeholder="/v1" {...form.register('base_path', orNone)} />
        </Field>
      </div>
      <Field label="Interception" group error={fieldError(form, 'intercept_enabled')}>
        <Checkbox
          checked={values.intercept_enabled ?? true}
          onCheckedChange={(on) => form.setValue('intercept_enabled', on, { shouldDirty: true })}
          label="Send SDK calls for this host through the route"
          description="SDKs that intercept move over at their next poll, without changes to code."
        />
      </Field>
      <ApiEquivalent method="POST" path={`/opportunities/${id}/accept`} body={chosen(values)} />
    </Form>
  );
}

type SecretFieldProps = {
  host: string;
  environment: string | undefined;
  value: string | null;
  error: string | undefined;
  onChange: (secret: string | null) => void;
};

/** Any secret, or the credential in escrow that may go to the host. */
function SecretField({ host, environment, value, error, onChange }: SecretFieldProps) {
  const trpc = useTRPC();
  const path = usePath();
  const [query, setQuery] = useState('');
  const [picked, setPicked] = useState<{ value: string; label: string }>();
  const secrets = useQuery(trpc.secrets.list.queryOptions({ per_page: 50, ...(query ? { q: query } : {}) }));
  const credentials = useQuery(trpc.wrap.listCredentials.queryOptions({ per_page: 100 }));
  const escrowed = credentials.data?.data.filter(({ allowed_hosts }) => allowed_hosts.includes(host)) ?? [];
  const options = (secrets.data?.data ?? []).map((secret) => ({
    value: secret.id,
    label: secret.name,
    icon: <KeyRound aria-hidden className="size-3.5 text-ink-3" />,
    detail:
      environment && !secret.environment_names.includes(environment)
        ? `No value in ${environment}`
        : `Value in ${secret.environment_names.join(', ') || 'no environment'}`,
  }));
  const all = picked && !options.some((one) => one.value === picked.value) ? [picked, ...options] : options;
  return (
    <>
      <Field
        label="Secret"
        required={escrowed.length === 0}
        error={error}
        hint={
          escrowed.length > 0
            ? `Leave empty to use the key in escrow: ${escrowed.map(({ name }) => name).join(', ')}.`
            : 'Its value never leaves the gateway, other than to this host.'
        }
      >
        <Combobox
          placeholder={escrowed[0] ? `${escrowed[0].name} (in escrow)` : 'Search secrets…'}
          loading={secrets.isFetching}
          emptyText="No matching secrets."
          options={all}
          value={value}
          onQueryChange={setQuery}
          onValueChange={(next) => {
            setPicked(all.find((one) => one.value === next));
            onChange(next);
          }}
        />
      </Field>
      {credentials.isSuccess && escrowed.length === 0 && value === null && (
        <Callout
          title={`No key for ${host} is in escrow`}
          actions={
            <>
              <LinkButton size="sm" href={path('/wrap?open=new')}>
                Escrow a key
              </LinkButton>
              <LinkButton size="sm" variant="ghost" href={path('/secrets?open=new')}>
                New secret
              </LinkButton>
            </>
          }
        >
          Choose a secret above, or store the provider’s key first.
        </Callout>
      )}
    </>
  );
}
