'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { z } from 'zod';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { DateTimeInput } from '#components/ui/date-time-input.tsx';
import { useEnvironmentLabel } from '#components/ui/environment-label.ts';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import { lazyTab } from '#components/ui/lazy.tsx';
import { Select } from '#components/ui/select.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { secretName, secretValue } from '#server/domain/secrets/schema.ts';
import { listOf } from './secret-text.ts';
import { collectionOptions, environmentOptions, NO_COLLECTION, useCollections, useEnvironments } from './use-environments.ts';
import { ValueInput } from './value-input.tsx';

const CreateConnectionForm = lazyTab(() => import('./create-connection-form.tsx').then((module) => module.CreateConnectionForm));
const CreateCertificateForm = lazyTab(() => import('./create-certificate-form.tsx').then((module) => module.CreateCertificateForm));

const NewSecret = z.object({
  name: secretName(),
  value: z.union([z.literal(''), secretValue()]),
  environment: z.string(),
  collection_id: z.string(),
  tags: z.string(),
  description: z.string().max(1_000),
  expires_at: z.string().nullable(),
  strict_expiry_enforcement: z.boolean(),
});

/** Makes a secret with its first value. */
export function CreateSecretSheet({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      dismissible={false}
      title="New secret"
      description="Routes inject it into calls. Callers never see it."
    >
      {open && <Kinds onDone={onClose} />}
    </Sheet>
  );
}

const KINDS = [
  { value: 'value', label: 'Value' },
  { value: 'connection', label: 'OAuth2 connection' },
  { value: 'certificate', label: 'Certificate' },
] as const;

/** What the secret holds decides what is asked. */
function Kinds({ onDone }: { onDone: () => void }) {
  const [kind, setKind] = useState<(typeof KINDS)[number]['value']>('value');
  return (
    <>
      <Segmented label="What it holds" value={kind} onValueChange={setKind} options={[...KINDS]} />
      {kind === 'value' && <CreateForm onDone={onDone} />}
      {kind === 'connection' && <CreateConnectionForm onDone={onDone} />}
      {kind === 'certificate' && <CreateCertificateForm onDone={onDone} />}
    </>
  );
}

function CreateForm({ onDone }: { onDone: () => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const router = useRouter();
  const path = usePath();
  const { space } = useScope();
  const environments = useEnvironments();
  const label = useEnvironmentLabel();
  const collections = useCollections();
  const form = useZodForm({
    schema: NewSecret,
    defaultValues: {
      name: '',
      value: '',
      environment: '',
      collection_id: NO_COLLECTION,
      tags: '',
      description: '',
      expires_at: null,
      strict_expiry_enforcement: false,
    },
  });
  const { refusal, panel, refuse, clear } = useFormRefusal(form);
  useUnsavedGuard(form.formState.isDirty);
  const create = useMutation(
    trpc.secrets.create.mutationOptions({
      gcTime: 0,
      onError: refuse,
      onSuccess: ({ id, name }) => {
        void queryClient.invalidateQueries(trpc.secrets.pathFilter());
        void queryClient.invalidateQueries(trpc.account.pathFilter());
        notifyDone(`Secret ${name} created`);
        // In place of the open form, which Back must not show again.
        router.replace(path(`/secrets/${id}`));
      },
    }),
  );
  const values = form.watch();
  const environment = values.environment || (environments?.find((one) => one.is_default) ?? environments?.[0])?.name || '';
  const submit = (value: z.output<typeof NewSecret>) => {
    clear();
    const tags = listOf(value.tags);
    create.mutate({
      name: value.name,
      ...(value.value === '' ? {} : { value: value.value, ...(environment ? { environment } : {}) }),
      ...(value.collection_id === NO_COLLECTION ? {} : { collection_id: value.collection_id }),
      ...(tags.length ? { tags } : {}),
      ...(value.description ? { description: value.description } : {}),
      ...(value.expires_at ? { expires_at: value.expires_at, strict_expiry_enforcement: value.strict_expiry_enforcement } : {}),
    });
  };
  return (
    <Form form={form} onSubmit={submit} refusal={refusal} className="grow">
      {panel}
      <Field
        label="Name"
        required
        error={fieldError(form, 'name')}
        hint={
          <>
            Use it in routes as <code className="font-mono">{`{{secret:${values.name.trim().replace(/\s+/g, '_') || 'NAME'}}}`}</code>
          </>
        }
      >
        <Input mono placeholder="STRIPE_API_KEY" autoComplete="off" {...form.register('name')} />
      </Field>
      <Field label="Value" optional error={fieldError(form, 'value')} hint="Leave empty to add values later.">
        <ValueInput
          hints
          value={values.value}
          onChange={(value) => form.setValue('value', value, { shouldDirty: true, shouldValidate: form.formState.isSubmitted })}
        />
      </Field>
      <div className="grid gap-5 sm:grid-cols-2">
        <Field label="Environment">
          <Select
            options={environmentOptions(environments, label)}
            value={environment || null}
            onValueChange={(next) => form.setValue('environment', next)}
          />
        </Field>
        <Field label="Collection">
          <Select
            options={collectionOptions(collections)}
            value={values.collection_id}
            onValueChange={(next) => form.setValue('collection_id', next)}
          />
        </Field>
      </div>
      <Field label="Tags" optional error={fieldError(form, 'tags')} hint="Comma-separated.">
        <Input placeholder="billing, third-party" {...form.register('tags')} />
      </Field>
      <Field label="Description" optional error={fieldError(form, 'description')}>
        <Input {...form.register('description')} />
      </Field>
      <Field label="Expires" optional error={fieldError(form, 'expires_at')} hint="You get a reminder before it expires.">
        <DateTimeInput value={values.expires_at} onChange={(at) => form.setValue('expires_at', at, { shouldDirty: true })} />
      </Field>
      {values.expires_at && (
        <Checkbox
          checked={values.strict_expiry_enforcement}
          onCheckedChange={(strict) => form.setValue('strict_expiry_enforcement', strict)}
          label="Strict expiry"
          description="Refuse calls that need it after it expires."
        />
      )}
      <ApiEquivalent method="POST" path="/secrets" body={{ name: values.name || 'NAME', value: '…', environment }} />
      <SheetFooter>
        <SpaceNote space={space} />
        <div className="ml-auto flex gap-2">
          <Button onClick={onDone}>Cancel</Button>
          <Button type="submit" variant="primary" keys="mod+enter" loading={create.isPending}>
            Create secret
          </Button>
        </div>
      </SheetFooter>
    </Form>
  );
}
