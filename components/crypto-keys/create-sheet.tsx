'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { z } from 'zod';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useFeatureReason } from '#components/trpc/plan.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { Checkbox, RadioCards } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { KEY_TYPE_NAMES, KEY_TYPES, keyTypeCan } from '#server/domain/crypto-keys/key-types.shared.ts';
import { keyName, MODES as MODE_NAMES } from '#server/domain/crypto-keys/schema.ts';
import { TYPES } from './key-labels.ts';

const NewKey = z.object({
  name: keyName(),
  key_type: z.enum(KEY_TYPE_NAMES),
  mode: z.enum(MODE_NAMES),
  auto_rotate_days: z
    .string()
    .regex(/^$|^[0-9]{1,4}$/, 'must be a number of days')
    .refine((text) => text === '' || inRange(Number(text)), 'must be 1 to 3650'),
  description: z.string().max(1_000),
  derived: z.boolean(),
  convergent: z.boolean(),
});
const inRange = (days: number) => days >= 1 && days <= 3_650;

type Props = { open: boolean; onClose: () => void; onCreated: (id: string) => void };

/** Makes a key by what it is for. */
export function CreateKeySheet({ open, onClose, onCreated }: Props) {
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      dismissible={false}
      title="New crypto key"
      description="The key is generated here and never shown to anyone."
    >
      {open && <CreateForm onClose={onClose} onCreated={onCreated} />}
    </Sheet>
  );
}

function CreateForm({ onClose, onCreated }: Omit<Props, 'open'>) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { space } = useScope();
  const noAgents = useFeatureReason('byo_agent');
  const form = useZodForm({
    schema: NewKey,
    defaultValues: {
      name: '',
      key_type: 'aes256-gcm',
      mode: 'cloud-only',
      auto_rotate_days: '',
      description: '',
      derived: false,
      convergent: false,
    },
  });
  const { refusal, panel, refuse, clear } = useFormRefusal(form);
  useUnsavedGuard(form.formState.isDirty);
  const create = useMutation(
    trpc.cryptoKeys.create.mutationOptions({
      onError: refuse,
      onSuccess: ({ id, name }) => {
        void queryClient.invalidateQueries(trpc.cryptoKeys.pathFilter());
        void queryClient.invalidateQueries(trpc.account.pathFilter());
        notifyDone(`Key ${name} created`);
        onCreated(id);
      },
    }),
  );
  const inputOf = ({ auto_rotate_days, description, mode, derived, convergent, ...rest }: z.output<typeof NewKey>) => ({
    ...rest,
    ...(mode === 'cloud-only' ? {} : { mode }),
    ...(auto_rotate_days === '' ? {} : { auto_rotate_days: Number(auto_rotate_days) }),
    ...(description === '' ? {} : { description }),
    ...(derived ? { derived, ...(convergent ? { convergent } : {}) } : {}),
  });
  const values = form.watch();
  const onlyCloud = KEY_TYPES[values.key_type].bundled ? noAgents : `${TYPES[values.key_type].label} keys never leave the service.`;
  return (
    <Form
      form={form}
      onSubmit={(value) => {
        clear();
        create.mutate(inputOf(value));
      }}
      refusal={refusal}
      className="grow"
    >
      {panel}
      <Field label="Name" required error={fieldError(form, 'name')} hint="Callers use it in URLs. It can’t be changed.">
        <Input mono placeholder="orders" autoComplete="off" {...form.register('name')} />
      </Field>
      <Field group label="Type" hint="Can’t be changed.">
        <RadioCards
          columns={2}
          value={values.key_type}
          onValueChange={(type) => {
            form.setValue('key_type', type, { shouldDirty: true });
            if (!KEY_TYPES[type].bundled) form.setValue('mode', 'cloud-only');
            if (!keyTypeCan(type, 'encrypt')) form.setValue('derived', false);
          }}
          options={KEY_TYPE_NAMES.map((type) => ({ value: type, title: TYPES[type].label, description: TYPES[type].use }))}
        />
      </Field>
      <Field group label="Mode">
        <RadioCards
          columns={2}
          value={values.mode}
          onValueChange={(mode) => form.setValue('mode', mode, { shouldDirty: true })}
          options={[
            { value: 'cloud-only', title: 'Cloud only', description: 'Used only inside the service.' },
            {
              value: 'bundled',
              title: 'Bundled',
              description: 'Also sent to your agents, sealed and for an hour at a time.',
              ...(onlyCloud ? { disabledReason: onlyCloud } : {}),
            },
          ]}
        />
      </Field>
      <Field
        label="Rotate automatically"
        optional
        error={fieldError(form, 'auto_rotate_days')}
        hint="Leave empty to rotate yourself. Old versions still decrypt and verify."
      >
        <Input inputMode="numeric" placeholder="90" suffix="days" className="sm:w-40" {...form.register('auto_rotate_days')} />
      </Field>
      {keyTypeCan(values.key_type, 'encrypt') && (
        <Field group label="Options">
          <Checkbox
            checked={values.derived}
            onCheckedChange={(on) => form.setValue('derived', on, { shouldDirty: true })}
            label="Derive a key per context"
            description="Each call names a context, such as a customer ID, and uses a key of its own for it."
          />
          {values.derived && (
            <Checkbox
              checked={values.convergent}
              onCheckedChange={(on) => form.setValue('convergent', on, { shouldDirty: true })}
              label="Convergent"
              description="Equal plaintexts get equal ciphertexts, so that you can search for them. Whoever sees ciphertexts sees which are equal."
            />
          )}
        </Field>
      )}
      <Field label="Description" optional error={fieldError(form, 'description')}>
        <Textarea rows={2} {...form.register('description')} />
      </Field>
      <ApiEquivalent method="POST" path="/crypto/keys" body={inputOf({ ...values, name: values.name || 'NAME' })} />
      <SheetFooter>
        <SpaceNote space={space} />
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" keys="mod+enter" loading={create.isPending}>
            Create key
          </Button>
        </div>
      </SheetFooter>
    </Form>
  );
}
