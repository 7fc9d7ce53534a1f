'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { z } from 'zod';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { DateTimeInput } from '#components/ui/date-time-input.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { counted } from '#components/ui/numbers.ts';
import { Select } from '#components/ui/select.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { type SecretDetail, secretName } from '#server/domain/secrets/schema.ts';
import { DeleteSecret } from './delete-secret.tsx';
import { NameById } from './name-by-id.tsx';
import { listOf, shortcodeByName } from './secret-text.ts';
import { collectionOptions, NO_COLLECTION, namedCollection, useCollections } from './use-environments.ts';

const Settings = z.object({
  name: secretName(),
  description: z.string().max(1_000),
  collection_id: z.string(),
  tags: z.string(),
  expires_at: z.string().nullable(),
  strict_expiry_enforcement: z.boolean(),
  allowed_hosts: z.string(),
  rotate_every_days: z.string().regex(/^\d*$/, 'Enter a whole number of days.'),
});

const valuesOf = (secret: z.output<typeof SecretDetail>): z.input<typeof Settings> => ({
  name: secret.name,
  description: secret.description ?? '',
  collection_id: secret.collection_id ?? NO_COLLECTION,
  tags: secret.tags.join(', '),
  expires_at: secret.expires_at,
  strict_expiry_enforcement: secret.strict_expiry_enforcement,
  allowed_hosts: secret.allowed_hosts?.join('\n') ?? '',
  rotate_every_days: secret.rotate_every_days?.toString() ?? '',
});

/** What belongs to a secret and to none of its values. */
export function SecretSettings({ secret }: { secret: z.output<typeof SecretDetail> }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const collections = useCollections();
  const readOnly = useForbidden('secret:update');
  const usage = useQuery(trpc.secrets.usage.queryOptions({ id: secret.id }));
  const form = useZodForm({
    schema: Settings,
    defaultValues: valuesOf(secret),
  });
  const { refusal, panel, refuse, clear, started, forget } = useFormRefusal(form, {
    row: secret,
    values: valuesOf,
    show: namedCollection(collections),
    draft: { name: `secrets/${secret.id}` },
  });
  useUnsavedGuard(form.formState.isDirty);
  const update = useMutation(
    trpc.secrets.update.mutationOptions({
      onError: refuse,
      onSuccess: () => {
        forget();
        void queryClient.invalidateQueries(trpc.secrets.pathFilter());
        notifyDone('Settings saved');
      },
    }),
  );
  const { dirtyFields } = form.formState;
  const values = form.watch();
  const byName = usage.data?.references.filter((reference) => reference.by === 'name').length;
  const renamed = dirtyFields.name && values.name !== secret.name;
  const submit = (value: z.output<typeof Settings>) => {
    clear();
    update.mutate({ id: secret.id, expected_updated_at: started(), ...changed(value) });
  };
  const changed = (value: z.output<typeof Settings>) => {
    const hosts = listOf(value.allowed_hosts);
    return {
      ...(dirtyFields.name ? { name: value.name } : {}),
      ...(dirtyFields.description ? { description: value.description || null } : {}),
      ...(dirtyFields.collection_id ? { collection_id: value.collection_id === NO_COLLECTION ? null : value.collection_id } : {}),
      ...(dirtyFields.tags ? { tags: listOf(value.tags) } : {}),
      ...(dirtyFields.expires_at ? { expires_at: value.expires_at } : {}),
      ...(dirtyFields.strict_expiry_enforcement ? { strict_expiry_enforcement: value.strict_expiry_enforcement } : {}),
      ...(dirtyFields.allowed_hosts ? { allowed_hosts: hosts.length ? hosts : null } : {}),
      ...(dirtyFields.rotate_every_days ? { rotate_every_days: value.rotate_every_days ? Number(value.rotate_every_days) : null } : {}),
    };
  };
  return (
    <>
      <SectionCard>
        <Form form={form} onSubmit={submit} refusal={refusal} className="max-w-2xl">
          {panel}
          <Field label="Name" required error={fieldError(form, 'name')}>
            <Input mono autoComplete="off" {...form.register('name')} />
          </Field>
          {renamed && (
            <Callout
              tone={byName === 0 ? 'info' : 'warn'}
              title={
                byName === undefined
                  ? 'Renaming breaks routes that use the name'
                  : byName === 0
                    ? 'Safe to rename: nothing references it by name'
                    : `Renaming breaks ${counted(byName, 'reference')} by name`
              }
            >
              <code className="font-mono text-xs">{shortcodeByName(secret.name)}</code> stops working immediately. References by ID keep
              working.
              {byName !== undefined && byName > 0 && <NameById secret={secret} references={usage.data?.references ?? []} />}
            </Callout>
          )}
          <Field label="Description" optional error={fieldError(form, 'description')}>
            <Textarea rows={2} {...form.register('description')} />
          </Field>
          <div className="grid gap-5 sm:grid-cols-2">
            <Field label="Collection">
              <Select
                options={collectionOptions(collections)}
                value={values.collection_id}
                onValueChange={(next) => form.setValue('collection_id', next, { shouldDirty: true })}
              />
            </Field>
            <Field label="Tags" optional error={fieldError(form, 'tags')} hint="Comma-separated.">
              <Input {...form.register('tags')} />
            </Field>
          </div>
          <Field label="Expires" optional error={fieldError(form, 'expires_at')}>
            <DateTimeInput value={values.expires_at} onChange={(at) => form.setValue('expires_at', at, { shouldDirty: true })} />
          </Field>
          <Checkbox
            checked={values.strict_expiry_enforcement}
            onCheckedChange={(strict) => form.setValue('strict_expiry_enforcement', strict, { shouldDirty: true })}
            label="Strict expiry"
            description="Refuse calls that need it after it expires. When off, they’re sent and logged with a warning."
          />
          <Field
            label="Allowed hosts"
            optional
            error={fieldError(form, 'allowed_hosts')}
            hint="One per line, such as api.stripe.com or *.stripe.com. The value is never sent to other hosts. To add hosts to a list that is set, confirm it’s you."
          >
            <Textarea mono rows={2} {...form.register('allowed_hosts')} />
          </Field>
          <Field label="Rotation reminder" optional error={fieldError(form, 'rotate_every_days')}>
            <Input inputMode="numeric" suffix="days after each rotation" className="max-w-72" {...form.register('rotate_every_days')} />
          </Field>
          <ApiEquivalent method="PATCH" path={`/secrets/${secret.id}`} body={changed(values)} />
          <div>
            <Button
              type="submit"
              variant="primary"
              keys="mod+enter"
              loading={update.isPending}
              disabledReason={readOnly ?? (form.formState.isDirty ? undefined : 'No changes to save')}
            >
              Save
            </Button>
          </div>
        </Form>
      </SectionCard>
      <DeleteSecret secret={secret} readOnly={readOnly} usage={usage.data} />
    </>
  );
}
