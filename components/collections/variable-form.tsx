'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { inferRouterOutputs } from '@trpc/server';
import { z } from 'zod';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { Combobox } from '#components/ui/combobox.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { CreateVariable } from '#server/domain/collections/variables/schema.ts';
import type { AppRouter } from '#server/trpc/root.ts';

export type Variable = inferRouterOutputs<AppRouter>['collections']['variables']['data'][number];

const VariableFields = z
  .object({
    key: CreateVariable.shape.key,
    type: z.enum(['value', 'secret']),
    value: z.string(),
    secret_id: z.string().nullable(),
    description: z.string().max(500),
  })
  .refine(({ type, secret_id }) => type === 'value' || secret_id !== null, { path: ['secret_id'], message: 'Choose a secret.' });

const valuesOf = ({ key, type, value, secret_id, description }: Variable) => ({
  key,
  type,
  value: value ?? '',
  secret_id,
  description: description ?? '',
});
const LABELS = { type: 'What it holds', secret_id: 'Secret' };

const bodyOf = ({ value, secret_id, description, ...rest }: z.output<typeof VariableFields>) => ({
  ...rest,
  ...(rest.type === 'secret' ? { secret_id } : { value }),
  description: description || null,
});

/** Makes a variable of the collection, or changes `variable`. */
export function VariableForm({ collectionId, variable, onDone }: VariableFormProps) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const secrets = useQuery(trpc.secrets.list.queryOptions({ per_page: 100 }));
  const form = useZodForm({
    schema: VariableFields,
    defaultValues: variable ? valuesOf(variable) : { key: '', type: 'value', value: '', secret_id: null, description: '' },
  });
  const { refusal, panel, refuse, clear, started, forget } = useFormRefusal(form, {
    row: variable,
    values: valuesOf,
    labels: LABELS,
    show: (field, value) => (field === 'secret_id' ? secrets.data?.data.find((secret) => secret.id === value)?.name : undefined),
    draft: { name: `collections/${collectionId}/variables/${variable?.id ?? 'new'}` },
    onNothingLeft: onDone,
  });
  const done = async () => {
    forget();
    await cache.invalidateQueries(trpc.collections.pathFilter());
    notifyDone('Saved');
    onDone();
  };
  const create = useMutation(trpc.collections.createVariable.mutationOptions({ onSuccess: done, onError: refuse }));
  const update = useMutation(trpc.collections.updateVariable.mutationOptions({ onSuccess: done, onError: refuse }));
  const typed = form.watch();
  const { type, secret_id } = typed;
  const dirty = form.formState.isDirty;
  useUnsavedGuard(dirty);
  return (
    <Form
      form={form}
      refusal={refusal}
      className="gap-4"
      onSubmit={async ({ value, secret_id: secret, description, ...rest }) => {
        clear();
        const body = bodyOf({ value, secret_id: secret, description, ...rest });
        const call = variable
          ? update.mutateAsync({ id: collectionId, variableId: variable.id, ...body, expected_updated_at: started() })
          : create.mutateAsync({ id: collectionId, ...body });
        await call.then(undefined, () => undefined);
      }}
    >
      {panel}
      <Field label="Key" required error={fieldError(form, 'key')} hint="Letters, digits and underscores.">
        <Input mono autoComplete="off" {...form.register('key')} />
      </Field>
      <Segmented
        label="Type"
        options={[
          { value: 'value', label: 'Plain text' },
          { value: 'secret', label: 'Secret' },
        ]}
        value={type}
        onValueChange={(next) => form.setValue('type', next, { shouldDirty: true })}
      />
      {type === 'value' ? (
        <Field label="Value" error={fieldError(form, 'value')} hint="Visible to everyone in the workspace.">
          <Textarea mono {...form.register('value')} />
        </Field>
      ) : (
        <Field label="Secret" required error={fieldError(form, 'secret_id')} hint="Each environment uses its own value.">
          <Combobox
            options={(secrets.data?.data ?? []).map((one) => ({ value: one.id, label: one.name }))}
            value={secret_id}
            onValueChange={(id) => form.setValue('secret_id', id, { shouldDirty: true, shouldValidate: form.formState.isSubmitted })}
          />
        </Field>
      )}
      <Field label="Description" optional error={fieldError(form, 'description')}>
        <Input {...form.register('description')} />
      </Field>
      <ApiEquivalent
        method={variable ? 'PATCH' : 'POST'}
        path={variable ? `/collections/${collectionId}/variables/${variable.id}` : `/collections/${collectionId}/variables`}
        body={bodyOf({ ...typed, key: typed.key || 'KEY' })}
      />
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button
          type="submit"
          variant="primary"
          keys="mod+enter"
          loading={create.isPending || update.isPending}
          disabledReason={variable && !dirty ? 'No changes to save.' : undefined}
        >
          Save
        </Button>
      </div>
    </Form>
  );
}

export type VariableFormProps = { collectionId: string; variable: Variable | undefined; onDone: () => void };
