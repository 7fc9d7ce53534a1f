'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { Button } from '#components/ui/button.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { DangerRow } from '#components/ui/danger-row.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Select } from '#components/ui/select.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { UpdateRoute } from '#server/domain/routes/schema.ts';
import { DeleteRoute } from './delete-route.tsx';
import type { RouteDetailData } from './route-data.ts';

/** A select takes an empty value for no choice at all, so none has a value of its own. */
const NONE = 'none';

/** What belongs to the route itself and to no environment: name, slug, collection, base environment, and its end. */
export function RouteSettingsTab({ route, env, readOnly }: { route: RouteDetailData; env: string; readOnly: string | undefined }) {
  return (
    <>
      <Identity route={route} readOnly={readOnly} />
      <DangerZone route={route} env={env} readOnly={readOnly} />
    </>
  );
}

const valuesOf = (route: RouteDetailData) => ({
  id: route.id,
  name: route.name,
  collection_id: route.collection_id,
  base_environment: route.base_environment ?? undefined,
  ...(route.slug === null ? { slug: null } : {}),
});

function Identity({ route, readOnly }: { route: RouteDetailData; readOnly: string | undefined }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const collections = useQuery(trpc.collections.list.queryOptions({ per_page: 100 }));
  const form = useZodForm({
    schema: UpdateRoute,
    defaultValues: valuesOf(route),
  });
  const { refusal, panel, refuse, clear, started, forget } = useFormRefusal(form, {
    row: route,
    values: valuesOf,
    draft: { name: `routes/${route.id}` },
    show: (field, value) =>
      field === 'collection_id' ? (collections.data?.data.find((c) => c.id === value)?.name ?? 'no collection') : undefined,
  });
  const update = useMutation(
    trpc.routes.update.mutationOptions({
      onSuccess: () => {
        forget();
        notifyDone('Saved');
        return cache.invalidateQueries(trpc.routes.pathFilter());
      },
      onError: refuse,
    }),
  );
  const { id, ...values } = form.watch();
  return (
    <SectionCard title="Name and place">
      <Form
        form={form}
        refusal={refusal}
        onSubmit={(value) => {
          clear();
          return update.mutateAsync({ ...value, expected_updated_at: started() }).then(undefined, () => undefined);
        }}
      >
        {panel}
        <div className="grid gap-5 sm:grid-cols-2">
          <Field label="Name" required error={fieldError(form, 'name')} hint="The slug stays as it is.">
            <Input {...form.register('name')} disabled={Boolean(readOnly)} />
          </Field>
          <Field
            label="Slug"
            error={fieldError(form, 'slug')}
            hint={route.slug ? 'Part of the address callers use; it cannot be changed.' : 'Can be set once.'}
          >
            {route.slug ? (
              <CopyText value={route.slug} label="slug" className="h-8" />
            ) : (
              <Input mono {...form.register('slug', { setValueAs: (text: unknown) => text || null })} disabled={Boolean(readOnly)} />
            )}
          </Field>
          <Field label="Collection" error={fieldError(form, 'collection_id')} hint="Joining one adds the environments it expects.">
            <Select
              options={[{ value: NONE, label: 'None' }, ...(collections.data?.data ?? []).map((c) => ({ value: c.id, label: c.name }))]}
              value={values.collection_id ?? NONE}
              onValueChange={(chosen) => form.setValue('collection_id', chosen === NONE ? null : chosen, { shouldDirty: true })}
              disabled={Boolean(readOnly)}
            />
          </Field>
          <Field
            label="Base environment"
            error={fieldError(form, 'base_environment')}
            hint="Answers calls that name none, and what the others inherit from."
          >
            <Select
              options={route.configured_environments.map((name) => ({ value: name, label: name }))}
              value={values.base_environment ?? null}
              onValueChange={(name) => form.setValue('base_environment', name, { shouldDirty: true })}
              disabled={Boolean(readOnly)}
            />
          </Field>
        </div>
        <ApiEquivalent method="PATCH" path={`/routes/${id}`} body={values} />
        <div>
          <Button
            type="submit"
            variant="primary"
            loading={update.isPending}
            disabledReason={readOnly ?? (form.formState.isDirty ? undefined : 'Nothing has changed')}
          >
            Save
          </Button>
        </div>
      </Form>
    </SectionCard>
  );
}

function DangerZone({ route, env, readOnly }: { route: RouteDetailData; env: string; readOnly: string | undefined }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const router = useRouter();
  const path = usePath();
  const { space } = useScope();
  const [asking, setAsking] = useState<'route' | 'environment'>();
  const isBase = env === route.base_environment;
  const served = route.configured_environments.includes(env);
  const stop = useMutation(
    trpc.routes.deleteEnvironment.mutationOptions({
      onSuccess: async () => {
        setAsking(undefined);
        notifyDone(`${route.name} no longer answers in ${env}`);
        await Promise.all(
          [trpc.routes, trpc.clients, trpc.collections, trpc.environments].map((family) => cache.invalidateQueries(family.pathFilter())),
        );
      },
    }),
  );
  return (
    <SectionCard tone="danger" title="Danger zone">
      <div className="flex flex-col divide-y divide-line">
        {served && (
          <DangerRow title={`Stop serving ${env}`} text={`Deletes the settings and client assignments of ${env}. Values of secrets stay.`}>
            <Button
              variant="danger-quiet"
              disabledReason={readOnly ?? (isBase ? 'The base environment cannot be removed. Make another one the base first.' : undefined)}
              onClick={() => setAsking('environment')}
            >
              Stop serving…
            </Button>
          </DangerRow>
        )}
        <DangerRow title="Delete this route" text="Its address answers 404 at once. This cannot be undone.">
          <Button variant="danger-quiet" icon={<Trash2 />} disabledReason={readOnly} onClick={() => setAsking('route')}>
            Delete route…
          </Button>
        </DangerRow>
      </div>
      <ConfirmDanger
        open={asking === 'environment'}
        onOpenChange={(open) => !open && setAsking(undefined)}
        space={space}
        title={`Stop serving “${route.name}” in ${env}?`}
        resourceName={env}
        confirmLabel="Stop serving"
        consequences={[
          `Calls that name ${env} are refused with 404.`,
          'Settings and client assignments of this environment are gone for good.',
        ]}
        onConfirm={() => stop.mutate({ id: route.id, env })}
        busy={stop.isPending}
        error={stop.error ? refusalOf(stop.error) : undefined}
      >
        <ApiEquivalent method="DELETE" path={`/routes/${route.id}/environments/${env}`} />
      </ConfirmDanger>
      <DeleteRoute
        route={asking === 'route' ? route : undefined}
        onClose={() => setAsking(undefined)}
        onDeleted={() => router.push(path('/routes'))}
      />
    </SectionCard>
  );
}
