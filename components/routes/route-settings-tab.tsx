'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { useEnvironmentLabel } from '#components/ui/environment-label.ts';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Select } from '#components/ui/select.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { UpdateRoute } from '#server/domain/routes/schema.ts';
import { DangerZone } from './danger-zone.tsx';
import type { RouteDetailData } from './route-data.ts';

/** A select takes an empty value for no choice at all, so none has a value of its own. */
const NONE = 'none';

/** What belongs to the route itself: name, slug, collection, base environment, pausing and deleting. */
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
  const label = useEnvironmentLabel();
  const collections = useQuery(trpc.collections.list.queryOptions({ per_page: 100 }));
  const form = useZodForm({
    schema: UpdateRoute,
    defaultValues: valuesOf(route),
  });
  const { refusal, panel, refuse, clear, started, forget } = useFormRefusal(form, {
    row: route,
    values: valuesOf,
    draft: { name: `routes/${route.id}` },
    show: (field, value) => (field === 'collection_id' ? (collections.data?.data.find((c) => c.id === value)?.name ?? 'None') : undefined),
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
    <SectionCard title="General">
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
          <Field label="Name" required error={fieldError(form, 'name')} hint="Renaming doesn’t change the slug.">
            <Input {...form.register('name')} disabled={Boolean(readOnly)} />
          </Field>
          <Field
            label="Slug"
            error={fieldError(form, 'slug')}
            hint={route.slug ? 'Part of the route’s URL. Can’t be changed.' : 'Part of the route’s URL. Can be set once.'}
          >
            {route.slug ? (
              <CopyText value={route.slug} label="slug" className="h-8" />
            ) : (
              <Input mono {...form.register('slug', { setValueAs: (text: unknown) => text || null })} disabled={Boolean(readOnly)} />
            )}
          </Field>
          <Field label="Collection" error={fieldError(form, 'collection_id')} hint="Adds the environments the collection expects.">
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
            hint="Handles calls without X-Svc-Environment. Other environments inherit from it."
          >
            <Select
              options={route.configured_environments.map((name) => ({ value: name, label: label(name) }))}
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
            disabledReason={readOnly ?? (form.formState.isDirty ? undefined : 'No changes to save')}
          >
            Save
          </Button>
        </div>
      </Form>
    </SectionCard>
  );
}
