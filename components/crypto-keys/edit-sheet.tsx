'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { z } from 'zod';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { Select } from '#components/ui/select.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { type Detail, managedReason, nameInPath } from './key-labels.ts';

const EditKey = z.object({
  description: z.string().max(1_000),
  auto_rotate_days: z
    .string()
    .regex(/^$|^[0-9]{1,4}$/, 'must be a number of days')
    .refine((text) => text === '' || (Number(text) >= 1 && Number(text) <= 3_650), 'must be 1 to 3650'),
  min_decryption_version: z.string(),
  min_encryption_version: z.string(),
});

const valuesOf = (key: Pick<Detail, 'description' | 'auto_rotate_days' | 'min_decryption_version' | 'min_encryption_version'>) => ({
  description: key.description ?? '',
  auto_rotate_days: key.auto_rotate_days === null ? '' : String(key.auto_rotate_days),
  min_decryption_version: String(key.min_decryption_version),
  min_encryption_version: String(key.min_encryption_version),
});

type Props = { crypto: Detail; open: boolean; onClose: () => void };

/** What of a key can be changed. */
export function EditKeySheet({ crypto, open, onClose }: Props) {
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      dismissible={false}
      title={`Edit ${crypto.name}`}
      description="Name, type and mode can’t be changed."
    >
      {open && <EditForm crypto={crypto} onClose={onClose} />}
    </Sheet>
  );
}

function EditForm({ crypto, onClose }: Omit<Props, 'open'>) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const form = useZodForm({ schema: EditKey, defaultValues: valuesOf(crypto) });
  const { refusal, panel, refuse, clear, started } = useFormRefusal(form, {
    row: crypto,
    values: valuesOf,
    labels: {
      description: 'Description',
      auto_rotate_days: 'Rotate automatically',
      min_decryption_version: 'Oldest usable version',
      min_encryption_version: 'Oldest version that signs',
    },
    onNothingLeft: onClose,
  });
  const dirty = form.formState.isDirty;
  useUnsavedGuard(dirty);
  const update = useMutation(
    trpc.cryptoKeys.update.mutationOptions({
      onError: refuse,
      onSuccess: () => {
        void queryClient.invalidateQueries(trpc.cryptoKeys.pathFilter());
        notifyDone('Key updated');
        onClose();
      },
    }),
  );
  const values = form.watch();
  const before = valuesOf(crypto);
  const inputOf = (value: z.output<typeof EditKey>) => ({
    ...(value.description === before.description ? {} : { description: value.description || null }),
    ...(value.auto_rotate_days === before.auto_rotate_days
      ? {}
      : { auto_rotate_days: value.auto_rotate_days === '' ? null : Number(value.auto_rotate_days) }),
    ...(value.min_decryption_version === before.min_decryption_version
      ? {}
      : { min_decryption_version: Number(value.min_decryption_version) }),
    ...(value.min_encryption_version === before.min_encryption_version
      ? {}
      : { min_encryption_version: Number(value.min_encryption_version) }),
  });
  const managed = managedReason(crypto);
  const versions = Array.from({ length: crypto.current_version }, (_, index) => ({
    value: String(index + 1),
    label: `Version ${index + 1}`,
  }));
  return (
    <Form
      form={form}
      onSubmit={(value) => {
        clear();
        update.mutate({ name: crypto.id, ...inputOf(value), expected_updated_at: started() });
      }}
      refusal={refusal}
      className="grow"
    >
      {panel}
      <Field label="Description" optional error={fieldError(form, 'description')}>
        <Textarea rows={2} {...form.register('description')} />
      </Field>
      {!managed && (
        <>
          <Field
            label="Rotate automatically"
            optional
            error={fieldError(form, 'auto_rotate_days')}
            hint="Leave empty to rotate yourself. Old versions still decrypt and verify."
          >
            <Input inputMode="numeric" placeholder="90" suffix="days" className="sm:w-40" {...form.register('auto_rotate_days')} />
          </Field>
          <Field
            label="Oldest usable version"
            error={fieldError(form, 'min_decryption_version')}
            hint="Older versions neither decrypt nor verify. Nothing is destroyed: lower it to use them again."
          >
            <Select
              options={versions}
              value={values.min_decryption_version}
              onValueChange={(next) => form.setValue('min_decryption_version', next, { shouldDirty: true })}
            />
          </Field>
        </>
      )}
      <ApiEquivalent method="PATCH" path={`/crypto/keys/${nameInPath(crypto)}`} body={inputOf(values)} />
      <SheetFooter>
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            variant="primary"
            keys="mod+enter"
            loading={update.isPending}
            disabledReason={dirty ? undefined : 'No changes to save'}
          >
            Save
          </Button>
        </div>
      </SheetFooter>
    </Form>
  );
}
