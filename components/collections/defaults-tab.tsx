'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { inferRouterOutputs } from '@trpc/server';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { DraftOffer } from '#components/trpc/draft-offer.tsx';
import { type Draft, dropDraft } from '#components/trpc/drafts.ts';
import { useDraftPlace, useKeptChanges, useLeftDraft } from '#components/trpc/form-draft.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError, QueryError } from '#components/trpc/query-error.tsx';
import { staleOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { MultiCombobox } from '#components/ui/combobox.tsx';
import { type Choice, differencesOf, onlyMine, resolved, same } from '#components/ui/conflict.ts';
import { ConflictPanel } from '#components/ui/conflict-panel.tsx';
import { EnvironmentDot } from '#components/ui/environment-dot.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import type { AppRouter } from '#server/trpc/root.ts';

type Outputs = inferRouterOutputs<AppRouter>;
type Defaults = Outputs['collections']['defaults'];

/** What each member route is expected to look like per environment. Routes that join get it; those that differ are shown, never changed silently. */
export function DefaultsTab({ collectionId }: { collectionId: string }) {
  const trpc = useTRPC();
  const defaults = useQuery(trpc.collections.defaults.queryOptions({ id: collectionId }));
  const environments = useQuery(trpc.environments.list.queryOptions({}));
  const failed = [defaults, environments].find((query) => query.error && !query.data);
  if (failed) return <QueryError query={failed} what="Environment defaults" />;
  if (!defaults.data || !environments.data) return <Skeleton lines={5} label="Loading environment defaults" />;
  return <DefaultsForm collectionId={collectionId} stored={defaults.data} environments={environments.data.data} />;
}

const bodyOf = ({ expected_environments, environments }: Defaults) => ({
  expected_environments,
  environments: environments.filter((one) => one.base_url || one.default_client_ids.length > 0),
});

const EXPECTED = 'Expected environments';
/** One field per environment, so that two people who set up different ones do not disagree. */
const byEnvironment = (defaults: Defaults): Record<string, unknown> => ({
  [EXPECTED]: [...defaults.expected_environments].sort(),
  ...Object.fromEntries(
    bodyOf(defaults).environments.map(({ environment_name, base_url, default_client_ids }) => [
      environment_name,
      { base_url, clients: default_client_ids },
    ]),
  ),
});
const fromEnvironments = ({ [EXPECTED]: expected, ...entries }: Record<string, unknown>, { updated_at }: Defaults): Defaults => ({
  updated_at,
  expected_environments: expected as string[],
  environments: Object.entries(entries).flatMap(([environment_name, entry]) => {
    const { base_url, clients } = (entry ?? {}) as { base_url?: string | null; clients?: string[] };
    return entry ? [{ environment_name, base_url: base_url ?? null, default_client_ids: clients ?? [] }] : [];
  }),
});

/** The entries that differ, in both versions. */
function changedFrom(base: Record<string, unknown>, mine: Record<string, unknown>) {
  const fields = [...new Set([...Object.keys(base), ...Object.keys(mine)])].filter((field) => !same(base[field], mine[field]));
  const of = (values: Record<string, unknown>) => Object.fromEntries(fields.map((field) => [field, values[field] ?? null]));
  return { base: of(base), values: of(mine) };
}

type DefaultsFormProps = { collectionId: string; stored: Defaults; environments: Outputs['environments']['list']['data'] };

function DefaultsForm({ collectionId, stored, environments }: DefaultsFormProps) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const readOnly = useForbidden('collection:update');
  const [edited, setEdited] = useState(stored);
  const clients = useQuery(trpc.clients.list.queryOptions({ per_page: 100 }));
  const [start, setStart] = useState(stored);
  const [now, setNow] = useState<Defaults>();
  const dirty = !same(edited, start);
  useUnsavedGuard(dirty);
  // A newer version arrived: one's own save, or another person's while nothing is typed here.
  if (stored.updated_at > start.updated_at && !now && (!dirty || same(byEnvironment(stored), byEnvironment(edited)))) {
    setStart(stored);
    setEdited(stored);
  }
  const place = useDraftPlace(`collections/${collectionId}/defaults`);
  const [left, settle] = useLeftDraft(place, (field, value) => same(byEnvironment(stored)[field], value));
  useKeptChanges(place, { version: start.updated_at, ...changedFrom(byEnvironment(start), byEnvironment(edited)) }, left);
  const restore = ({ version, base, values }: Draft): void => {
    const of = (part: Record<string, unknown>) =>
      fromEnvironments({ ...byEnvironment(stored), ...part }, { ...stored, updated_at: version ?? stored.updated_at });
    setStart(of(base));
    setEdited(of(values));
    settle();
  };
  const put = useMutation(
    trpc.collections.putDefaults.mutationOptions({
      onSuccess: async () => {
        notifyDone('Saved. See the Routes tab for routes that are out of sync.');
        await cache.invalidateQueries(trpc.collections.pathFilter());
      },
      onError: (error) => {
        const stale = staleOf<Defaults>(error);
        if (!stale) return;
        const current = { ...stale.current, updated_at: stale.current_updated_at };
        if (differencesOf(byEnvironment(start), byEnvironment(current), byEnvironment(edited)).length > 0) setNow(current);
        else goOn(current, {});
      },
    }),
  );
  const save = (value: Defaults, expected_updated_at: string): void =>
    put.mutate({ id: collectionId, ...bodyOf(value), expected_updated_at });
  const goOn = (current: Defaults, choices: Record<string, Choice>): void => {
    const next = fromEnvironments(resolved(byEnvironment(start), byEnvironment(current), byEnvironment(edited), choices), current);
    setNow(undefined);
    setStart(current);
    if (same(byEnvironment(next), byEnvironment(current))) takeTheirs(current);
    else {
      setEdited(next);
      save(next, current.updated_at);
    }
  };
  const takeTheirs = (current: Defaults): void => {
    put.reset();
    setEdited(current);
    notifyDone('Kept their version. There was nothing else to save.');
    void cache.invalidateQueries(trpc.collections.pathFilter());
  };
  const entryOf = (name: string) =>
    edited.environments.find((one) => one.environment_name === name) ?? { environment_name: name, base_url: null, default_client_ids: [] };
  const change = (name: string, part: Partial<Defaults['environments'][number]>) =>
    setEdited({
      ...edited,
      environments: [...edited.environments.filter((one) => one.environment_name !== name), { ...entryOf(name), ...part }],
    });
  const expect = (name: string, on: boolean) =>
    setEdited({
      ...edited,
      expected_environments: on ? [...edited.expected_environments, name] : edited.expected_environments.filter((one) => one !== name),
    });
  return (
    <SectionCard
      title="Environment defaults"
      description="Choose the environments every route in this collection should serve, and their base URLs."
      footer={
        <>
          {dirty && <Button onClick={() => setEdited(start)}>Discard</Button>}
          <Button
            variant="primary"
            loading={put.isPending}
            disabledReason={readOnly ?? (dirty ? undefined : 'No changes to save.')}
            onClick={() => save(edited, start.updated_at)}
          >
            Save
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {left && (
          <DraftOffer
            draft={left}
            onRestore={restore}
            onDiscard={() => {
              dropDraft(place);
              settle();
            }}
          />
        )}
        {now ? (
          <ConflictPanel
            differences={differencesOf(byEnvironment(start), byEnvironment(now), byEnvironment(edited))}
            kept={onlyMine(byEnvironment(start), byEnvironment(now), byEnvironment(edited))}
            onSave={(choices) => goOn(now, choices)}
            onDiscard={() => {
              put.reset();
              setStart(now);
              setEdited(now);
              setNow(undefined);
            }}
          />
        ) : (
          <MutationError error={put.error} />
        )}
        {environments.map((environment) => {
          const expected = edited.expected_environments.includes(environment.name);
          const entry = entryOf(environment.name);
          return (
            <div key={environment.id} className="flex flex-col gap-3 border-line border-b pb-4 last:border-b-0 last:pb-0">
              <Checkbox
                checked={expected}
                disabled={readOnly !== undefined}
                onCheckedChange={(on) => expect(environment.name, on)}
                label={<EnvironmentDot name={environment.display_name} color={environment.color} />}
              />
              {expected && (
                <div className="grid gap-4 pl-6 sm:grid-cols-2">
                  <Field label="Base URL" optional hint="Leave empty to keep each route’s own URL.">
                    <Input
                      mono
                      placeholder="https://staging.example.com"
                      value={entry.base_url ?? ''}
                      disabled={readOnly !== undefined}
                      onChange={(event) => change(environment.name, { base_url: event.target.value || null })}
                    />
                  </Field>
                  <Field label="Clients" optional hint="Assigned to routes added to this collection.">
                    <MultiCombobox
                      options={(clients.data?.data ?? []).map((client) => ({
                        value: client.id,
                        label: client.name,
                        detail: client.ip_address,
                      }))}
                      values={entry.default_client_ids}
                      onValuesChange={(default_client_ids) => change(environment.name, { default_client_ids })}
                      disabled={readOnly !== undefined}
                    />
                  </Field>
                </div>
              )}
            </div>
          );
        })}
        <ApiEquivalent method="PUT" path={`/collections/${collectionId}/environment-defaults`} body={bodyOf(edited)} />
      </div>
    </SectionCard>
  );
}
