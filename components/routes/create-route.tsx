'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Controller } from 'react-hook-form';
import type { z } from 'zod';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useUnsavedIn } from '#components/trpc/form-draft.ts';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { EnvironmentDot } from '#components/ui/environment-dot.tsx';
import { useEnvironmentLabel } from '#components/ui/environment-label.ts';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import { Select } from '#components/ui/select.tsx';
import { Sheet } from '#components/ui/sheet.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { CreateRoute as CreateRouteSchema, routeSlugFrom } from '#server/domain/routes/schema.ts';
import { CreatedRoute, type Made } from './created-route.tsx';
import { InjectionEditor } from './injection-editor.tsx';
import { TargetProbe } from './target-probe.tsx';

const schema = CreateRouteSchema.pick({
  name: true,
  target_base_url: true,
  slug: true,
  base_environment: true,
  collection_id: true,
  inject_headers_json: true,
  requires_clients: true,
});

/** A select takes an empty value for no choice at all, so none has a value of its own. */
const NONE = 'none';

export type CreateRouteProps = {
  open: boolean;
  onClose: () => void;
  collectionId?: string;
  /** The upstream URL that another page proposes. */
  target?: string;
};

/** Makes a route: where it goes, with which credential; then how to call it. */
export function CreateRoute({ open, onClose, collectionId, target }: CreateRouteProps) {
  const { space } = useScope();
  const [made, setMade] = useState<Made>();
  const [dirty, setDirty] = useUnsavedIn(open);
  const [wasOpen, setWasOpen] = useState(open);
  // Each opening starts with an empty form.
  if (open !== wasOpen) {
    setWasOpen(open);
    if (open) setMade(undefined);
  }
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      title={made ? 'Route created' : 'New route'}
      description={made ? undefined : space === 'live' ? 'Live: real callers and credentials.' : 'Test: separate data, keys and URLs.'}
      dismissible={!dirty}
      footer={
        made ? undefined : (
          <>
            <Button onClick={onClose}>Cancel</Button>
            <Button variant="primary" type="submit" form="create-route" keys="mod+enter">
              Create route
            </Button>
          </>
        )
      }
    >
      {made ? (
        <CreatedRoute made={made} onAgain={() => setMade(undefined)} />
      ) : (
        open && (
          <RouteForm
            collectionId={collectionId}
            target={target}
            onMade={(route) => {
              setDirty(false);
              setMade(route);
            }}
            onDirty={setDirty}
          />
        )
      )}
    </Sheet>
  );
}

type RouteFormProps = {
  collectionId: string | undefined;
  target: string | undefined;
  onMade: (made: Made) => void;
  onDirty: (dirty: boolean) => void;
};

function RouteForm({ collectionId, target, onMade, onDirty }: RouteFormProps) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { proxy_url } = useScope();
  const environments = useQuery(trpc.environments.list.queryOptions({}));
  const collections = useQuery(trpc.collections.list.queryOptions({ per_page: 100 }));
  const form = useZodForm({
    schema,
    defaultValues: {
      name: '',
      target_base_url: target ?? '',
      collection_id: collectionId ?? null,
      inject_headers_json: {},
      requires_clients: false,
    },
  });
  const { refusal, panel, refuse, clear, forget } = useFormRefusal(form, {
    draft: { name: `routes/new/${collectionId ?? ''}`, secret: ['inject_headers_json'] },
  });
  useUnsavedGuard(form.formState.isDirty, onDirty);
  const create = useMutation(
    trpc.routes.create.mutationOptions({
      onSuccess: (route) => {
        forget();
        onMade({ route, warnings: route.warnings ?? [] });
        return Promise.all([cache.invalidateQueries(trpc.routes.pathFilter()), cache.invalidateQueries(trpc.account.pathFilter())]);
      },
      onError: refuse,
    }),
  );
  const label = useEnvironmentLabel();
  const values = form.watch();
  const fallback = environments.data?.data.find((e) => e.is_default)?.name;
  const collection = collections.data?.data.find((c) => c.id === values.collection_id);
  const derived = routeSlugFrom(collection ? `${collection.name}-${values.name}` : values.name);
  const body = bodyOf(values);
  return (
    <Form
      id="create-route"
      form={form}
      refusal={refusal}
      onSubmit={(value) => {
        clear();
        return create.mutateAsync(value).then(undefined, () => undefined);
      }}
      aria-busy={create.isPending || undefined}
    >
      {panel}
      <Field label="Name" required error={fieldError(form, 'name')}>
        <Input placeholder="payments" {...form.register('name')} />
      </Field>
      <Field
        label="Upstream URL"
        required
        error={fieldError(form, 'target_base_url') ?? urlProblem(values.target_base_url)}
        hint="An https URL without credentials."
      >
        <Input mono placeholder="https://api.example.com/v1" inputMode="url" {...form.register('target_base_url')} />
      </Field>
      <TargetProbe url={urlProblem(values.target_base_url) ? '' : values.target_base_url} />
      <div className="grid gap-5 sm:grid-cols-2">
        <Field label="Environment" error={fieldError(form, 'base_environment')} hint="The base environment. Others can override it.">
          <Select
            options={(environments.data?.data ?? []).map((e) => ({
              value: e.name,
              label: label(e.display_name),
              icon: <EnvironmentDot bare name={e.name} color={e.color} />,
            }))}
            value={values.base_environment ?? fallback ?? null}
            onValueChange={(name) => form.setValue('base_environment', name, { shouldDirty: true })}
          />
        </Field>
        <Field label="Collection" optional error={fieldError(form, 'collection_id')}>
          <Select
            options={[{ value: NONE, label: 'None' }, ...(collections.data?.data ?? []).map((c) => ({ value: c.id, label: c.name }))]}
            value={values.collection_id ?? NONE}
            onValueChange={(id) => form.setValue('collection_id', id === NONE ? null : id, { shouldDirty: true })}
          />
        </Field>
      </div>
      <Field
        label="Slug"
        optional
        error={fieldError(form, 'slug')}
        hint={
          <>
            The route’s URL is{' '}
            <span className="font-mono [overflow-wrap:anywhere]">
              {proxy_url}/{values.slug || derived || 'payments'}
            </span>
            . Slugs can’t be changed.
          </>
        }
      >
        <Input
          mono
          placeholder={derived ?? 'from the name'}
          {...form.register('slug', { setValueAs: (text: unknown) => (text === '' || text === null ? undefined : text) })}
        />
      </Field>
      <Field
        label="Injected headers"
        group
        error={topError(form.formState.errors.inject_headers_json)}
        hint="Added to every call. Put the upstream’s credential here."
      >
        <Controller
          control={form.control}
          name="inject_headers_json"
          render={({ field }) => (
            <InjectionEditor
              kind="header"
              value={(field.value ?? {}) as Record<string, string | null>}
              onChange={field.onChange}
              environment={values.base_environment ?? fallback}
              routeName={values.name}
              errors={entryErrors(form.formState.errors.inject_headers_json)}
            />
          )}
        />
      </Field>
      <Checkbox
        checked={values.requires_clients ?? false}
        onCheckedChange={(on) => form.setValue('requires_clients', on, { shouldDirty: true })}
        label="Require an assigned client"
        description="Only clients you assign to this route can call it."
      />
      <ApiEquivalent method="POST" path="/routes" body={body} />
    </Form>
  );
}

type Values = z.input<typeof schema>;

/** What the API would be sent: without what says nothing. */
const bodyOf = (values: Values) =>
  Object.fromEntries(
    Object.entries(values).filter(
      ([, value]) =>
        value !== undefined && value !== null && value !== false && !(typeof value === 'object' && Object.keys(value).length === 0),
    ),
  );

const SCHEMES = ['https://', 'http://'];

/** Seen while typing, before the server is asked: what can never be right. */
function urlProblem(text: string | undefined): string | undefined {
  if (!text) return undefined;
  // Only what can no longer become one: nobody is told off in the middle of a word.
  const started = SCHEMES.some((scheme) => text.toLowerCase().startsWith(scheme) || scheme.startsWith(text.toLowerCase()));
  if (!started && /[.:/]/.test(text)) return 'Start the URL with https://, for example https://api.example.com.';
  if (!/^https?:\/\/[^/]/i.test(text)) return undefined;
  const url = URL.parse(text.replace(/\{\{[^}]*\}\}/g, 'x'));
  if (!url) return undefined;
  if (url.username || url.password) return 'Remove the user name and password from the URL. Inject the credential as a header instead.';
  if (url.search || url.hash) return 'Remove the query and fragment from the URL. Callers send their own.';
  return undefined;
}

type Errors = { message?: unknown } | undefined;
const topError = (error: Errors): string | undefined => (typeof error?.message === 'string' ? error.message : undefined);
const entryErrors = (error: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries((error ?? {}) as Record<string, Errors>).flatMap(([name, one]) =>
      typeof one?.message === 'string' ? [[name, one.message]] : [],
    ),
  );
