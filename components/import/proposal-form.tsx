'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ArrowLeft, KeyRound } from 'lucide-react';
import { useState } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { EnvironmentDot } from '#components/ui/environment-dot.tsx';
import { useEnvironmentLabel } from '#components/ui/environment-label.ts';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { counted } from '#components/ui/numbers.ts';
import { SecretInput } from '#components/ui/secret-input.tsx';
import { Select } from '#components/ui/select.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import type { Proposal, ProposedRoute } from '#server/domain/import/schema.ts';
import type { ImportedThings } from './import-result.tsx';
import { OperationList } from './operation-list.tsx';
import { everything, importBody, neededSecrets, type Selection } from './selection.ts';

/** A select takes an empty value for no choice at all, so none has a value of its own. */
const NONE = 'none';

export type ProposalFormProps = { proposal: Proposal; onBack: () => void; onMade: (made: ImportedThings) => void };

/** The proposed routes and secrets, to review and edit before they are created. */
export function ProposalForm({ proposal, onBack, onMade }: ProposalFormProps) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const [selection, setSelection] = useState<Selection>(() => everything(proposal));
  const [environment, setEnvironment] = useState<string>();
  const [collection, setCollection] = useState<string | null>(null);
  const environments = useQuery(trpc.environments.list.queryOptions({}));
  const collections = useQuery(trpc.collections.list.queryOptions({ per_page: 100 }));
  const label = useEnvironmentLabel();
  useUnsavedGuard(true);
  const apply = useMutation({
    ...trpc.import.create.mutationOptions({
      onSuccess: async (made) => {
        await Promise.all([
          cache.invalidateQueries(trpc.routes.pathFilter()),
          cache.invalidateQueries(trpc.secrets.pathFilter()),
          cache.invalidateQueries(trpc.account.pathFilter()),
        ]);
        onMade({
          ...made,
          proposed: Object.fromEntries(proposal.routes.map((route) => [selection.routes[route.name]?.name ?? route.name, route])),
        });
      },
    }),
    gcTime: 0,
  });
  const fallback = environments.data?.data.find((one) => one.is_default)?.name;
  const place = { environment: environment ?? fallback, collection_id: collection };
  const needed = neededSecrets(proposal, selection);
  const count = Object.values(selection.routes).filter((route) => route.chosen).length;
  const empty = needed.filter((name) => !selection.secrets[name]?.value);
  return (
    <form
      className="flex max-w-4xl flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (count > 0) apply.mutate(importBody(proposal, selection, place));
      }}
    >
      {proposal.warnings.map((warning) => (
        <Callout key={warning} tone="warn" title={warning} />
      ))}
      <SectionCard title={`${counted(proposal.routes.length, 'route')} found`} flush>
        <ul>
          {proposal.routes.map((route) => (
            <RouteRow
              key={route.name}
              route={route}
              edited={selection.routes[route.name] ?? { chosen: false, name: route.name, target_base_url: route.target_base_url }}
              onEdit={(edited) => setSelection({ ...selection, routes: { ...selection.routes, [route.name]: edited } })}
            />
          ))}
        </ul>
      </SectionCard>
      {needed.length > 0 && (
        <SectionCard title="Secrets" description="Credentials are stored as secrets. Callers never see them.">
          <div className="flex flex-col gap-5">
            {proposal.secrets
              .filter((secret) => needed.includes(secret.name))
              .map((secret) => {
                const edited = selection.secrets[secret.name] ?? { name: secret.name, value: '' };
                const change = (part: Partial<typeof edited>) =>
                  setSelection({ ...selection, secrets: { ...selection.secrets, [secret.name]: { ...edited, ...part } } });
                return (
                  <div key={secret.name} className="grid gap-3 sm:grid-cols-2">
                    <Field label="Secret" hint={secret.note}>
                      <Input mono icon={<KeyRound />} value={edited.name} onChange={(event) => change({ name: event.target.value })} />
                    </Field>
                    <Field
                      label={`Value in ${place.environment ? label(place.environment) : 'the default environment'}`}
                      hint={edited.value ? undefined : 'Leave empty to add the value later. Calls fail until then.'}
                    >
                      <SecretInput value={edited.value} onChange={(event) => change({ value: event.target.value })} />
                    </Field>
                  </div>
                );
              })}
          </div>
        </SectionCard>
      )}
      <SectionCard title="Destination">
        <div className="grid gap-5 sm:grid-cols-2">
          <Field label="Environment">
            <Select
              options={(environments.data?.data ?? []).map((one) => ({
                value: one.name,
                label: label(one.display_name),
                icon: <EnvironmentDot bare name={one.name} color={one.color} />,
              }))}
              value={place.environment ?? null}
              onValueChange={setEnvironment}
            />
          </Field>
          <Field label="Collection" optional>
            <Select
              options={[
                { value: NONE, label: 'None' },
                ...(collections.data?.data ?? []).map((one) => ({ value: one.id, label: one.name })),
              ]}
              value={collection ?? NONE}
              onValueChange={(id) => setCollection(id === NONE ? null : id)}
            />
          </Field>
        </div>
      </SectionCard>
      <MutationError error={apply.error} />
      <div className="sticky bottom-0 flex flex-wrap items-center gap-2 border-line border-t bg-canvas py-3">
        <Button icon={<ArrowLeft />} onClick={onBack}>
          Back
        </Button>
        <p className="ml-auto text-ink-2 max-lg:order-first max-lg:w-full">
          {empty.length > 0 && `${counted(empty.length, 'secret')} without a value. `}If one item fails, nothing is created.
        </p>
        <Button
          type="submit"
          variant="primary"
          className="max-lg:ml-auto"
          loading={apply.isPending}
          disabledReason={count === 0 ? 'Select at least one route' : undefined}
        >
          Create {counted(count, 'route')}
          {needed.length > 0 && ` and ${counted(needed.length, 'secret')}`}
        </Button>
      </div>
    </form>
  );
}

type Edited = Selection['routes'][string];

function RouteRow({ route, edited, onEdit }: { route: ProposedRoute; edited: Edited; onEdit: (edited: Edited) => void }) {
  const injected = [...Object.keys(route.inject_headers_json), ...Object.keys(route.inject_query_json).map((name) => `?${name}`)];
  return (
    <li className="flex flex-col gap-3 border-line border-b p-4 last:border-b-0">
      <Checkbox
        checked={edited.chosen}
        onCheckedChange={(chosen) => onEdit({ ...edited, chosen })}
        label={<span className="font-medium">{route.name}</span>}
        description={
          <span className="font-mono">
            {route.sample_call.method} {route.sample_call.path}
          </span>
        }
      />
      {edited.chosen && (
        <div className="flex flex-col gap-3 sm:pl-6">
          <div className="grid gap-3 sm:grid-cols-[12rem_minmax(0,1fr)]">
            <Field label="Name">
              <Input value={edited.name} onChange={(event) => onEdit({ ...edited, name: event.target.value })} />
            </Field>
            <Field label="Upstream URL">
              <Input mono value={edited.target_base_url} onChange={(event) => onEdit({ ...edited, target_base_url: event.target.value })} />
            </Field>
          </div>
          <p className="flex flex-wrap items-center gap-1.5 text-ink-3 text-xs">
            {injected.length > 0 ? 'Injects' : 'Injects nothing'}
            {injected.map((name) => (
              <Badge key={name} mono tone="accent">
                {name}
              </Badge>
            ))}
            {route.allowed_methods && (
              <>
                {' '}
                · Allows
                {route.allowed_methods.map((method) => (
                  <Badge key={method} mono>
                    {method}
                  </Badge>
                ))}
              </>
            )}
          </p>
          {route.operations && <OperationList operations={route.operations} />}
        </div>
      )}
    </li>
  );
}
