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
import { Select } from '#components/ui/select.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { ALPHABETS, FORMATS_ABOUT, TOKEN_FORMATS } from '#server/domain/vaults/formats.shared.ts';
import { CUSTODY } from './vault-labels.ts';

const ALPHABET_NAMES = Object.keys(ALPHABETS) as [keyof typeof ALPHABETS, ...(keyof typeof ALPHABETS)[]];

const NewVault = z.object({
  name: z
    .string()
    .max(128)
    .regex(/^[A-Za-z0-9](?:[A-Za-z0-9 ._-]*[A-Za-z0-9])?$/, 'must begin and end with a letter or digit'),
  token_format: z.enum(TOKEN_FORMATS),
  alphabet: z.enum(ALPHABET_NAMES),
  custody_mode: z.enum(['managed', 'dual']),
  ttl_days: z
    .string()
    .regex(/^$|^[0-9]{1,4}$/, 'must be a number of days')
    .refine((text) => text === '' || (Number(text) >= 1 && Number(text) <= 3_650), 'must be 1 to 3650'),
  dedupe: z.boolean(),
  description: z.string().max(1_000),
});

type Props = { open: boolean; onClose: () => void; onCreated: (id: string) => void };

/** Makes a vault by what its values look like. */
export function CreateVaultSheet({ open, onClose, onCreated }: Props) {
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      dismissible={false}
      title="New vault"
      description="Format and custody can’t be changed later."
    >
      {open && <CreateForm onClose={onClose} onCreated={onCreated} />}
    </Sheet>
  );
}

function CreateForm({ onClose, onCreated }: Omit<Props, 'open'>) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { space } = useScope();
  const noDual = useFeatureReason('vault_dual_custody');
  const form = useZodForm({
    schema: NewVault,
    defaultValues: {
      name: '',
      token_format: 'generic',
      alphabet: 'digits',
      custody_mode: 'managed',
      ttl_days: '',
      dedupe: false,
      description: '',
    },
  });
  const { refusal, panel, refuse, clear } = useFormRefusal(form);
  useUnsavedGuard(form.formState.isDirty);
  const create = useMutation(
    trpc.vaults.create.mutationOptions({
      onError: refuse,
      onSuccess: ({ id, name }) => {
        void queryClient.invalidateQueries(trpc.vaults.pathFilter());
        void queryClient.invalidateQueries(trpc.account.pathFilter());
        notifyDone(`Vault ${name} created`);
        onCreated(id);
      },
    }),
  );
  const inputOf = ({ name, token_format, alphabet, custody_mode, ttl_days, dedupe, description }: z.output<typeof NewVault>) => ({
    name,
    ...(token_format === 'generic' ? {} : { token_format }),
    ...(token_format === 'ff1' ? { alphabet } : {}),
    ...(custody_mode === 'managed' ? {} : { custody_mode }),
    ...(ttl_days === '' ? {} : { default_ttl_seconds: Number(ttl_days) * 86_400 }),
    ...(dedupe ? { dedupe } : {}),
    ...(description === '' ? {} : { description }),
  });
  const values = form.watch();
  const about = FORMATS_ABOUT[values.token_format];
  const stores = values.custody_mode === 'managed' && values.token_format !== 'ff1';
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
        <Input mono placeholder="cards" autoComplete="off" {...form.register('name')} />
      </Field>
      <Field group label="Token format" hint={`Keeps: ${about.kept.toLowerCase()}.`}>
        <RadioCards
          columns={2}
          value={values.token_format}
          onValueChange={(format) => {
            form.setValue('token_format', format, { shouldDirty: true });
            if (format !== 'generic') form.setValue('custody_mode', 'managed');
            if (format === 'ff1') {
              form.setValue('dedupe', false);
              form.setValue('ttl_days', '');
            }
          }}
          options={TOKEN_FORMATS.map((format) => ({
            value: format,
            title: FORMATS_ABOUT[format].label,
            description: FORMATS_ABOUT[format].accepts,
          }))}
        />
      </Field>
      <dl className="grid gap-x-3 gap-y-1 rounded-md border border-line bg-subtle px-3 py-2 text-xs sm:grid-cols-[auto_1fr]">
        <dt className="text-ink-3">Value</dt>
        <dd className="break-all font-mono">{about.example.value}</dd>
        <dt className="text-ink-3">Token</dt>
        <dd className="break-all font-mono">{about.example.token}</dd>
      </dl>
      {values.token_format === 'ff1' && (
        <Field label="Alphabet" hint="Values and tokens are made of these characters.">
          <Select
            value={values.alphabet}
            onValueChange={(next) => form.setValue('alphabet', next, { shouldDirty: true })}
            options={ALPHABET_NAMES.map((name) => ({ value: name, label: name.replaceAll('_', ' ') }))}
          />
        </Field>
      )}
      <Field group label="Custody">
        <RadioCards
          columns={2}
          value={values.custody_mode}
          onValueChange={(mode) => {
            form.setValue('custody_mode', mode, { shouldDirty: true });
            if (mode === 'dual') form.setValue('dedupe', false);
          }}
          options={(['managed', 'dual'] as const).map((mode) => {
            const reason = mode === 'managed' ? undefined : values.token_format === 'generic' ? noDual : 'Only for the format Generic';
            return { value: mode, ...CUSTODY[mode], ...(reason ? { disabledReason: reason } : {}) };
          })}
        />
      </Field>
      {values.token_format !== 'ff1' && (
        <Field
          label="Tokens expire after"
          optional
          error={fieldError(form, 'ttl_days')}
          hint="Leave empty to keep them until they’re deleted."
        >
          <Input inputMode="numeric" placeholder="365" suffix="days" className="sm:w-40" {...form.register('ttl_days')} />
        </Field>
      )}
      {stores && (
        <Checkbox
          checked={values.dedupe}
          onCheckedChange={(on) => form.setValue('dedupe', on, { shouldDirty: true })}
          label="One token per value"
          description="Tokenizing a known value returns the token it has. Whoever holds tokens sees which values are equal."
        />
      )}
      <Field label="Description" optional error={fieldError(form, 'description')}>
        <Textarea rows={2} {...form.register('description')} />
      </Field>
      <ApiEquivalent method="POST" path="/vaults" body={inputOf({ ...values, name: values.name || 'NAME' })} />
      <SheetFooter>
        <SpaceNote space={space} />
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" keys="mod+enter" loading={create.isPending}>
            Create vault
          </Button>
        </div>
      </SheetFooter>
    </Form>
  );
}
