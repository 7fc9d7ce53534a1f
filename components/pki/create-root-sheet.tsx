'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { z } from 'zod';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { DEFAULT_INTERMEDIATE_TTL } from '#server/domain/pki/schema.ts';

const DAY = 86_400;
const DEFAULT_INTERMEDIATE_DAYS = String(DEFAULT_INTERMEDIATE_TTL / DAY);
const text = (most: number) => z.string().trim().max(most);
const whole = (least: number, most: number) =>
  z
    .string()
    .trim()
    .regex(/^[0-9]{1,5}$/, 'must be a whole number')
    .refine((given) => Number(given) >= least && Number(given) <= most, `must be ${least} to ${most}`);

const NewRoot = z.object({
  name: z
    .string()
    .max(63)
    .regex(/^[a-z0-9][a-z0-9_-]*$/, 'may have lower-case letters, digits, underscores and dashes'),
  common_name: text(64).min(1, 'is required'),
  organization: text(64),
  organizational_unit: text(64),
  country: z.string().regex(/^$|^[A-Za-z]{2}$/, 'must be two letters'),
  province: text(128),
  locality: text(128),
  years: whole(1, 20),
  intermediate_days: whole(1, 1_825),
  publish: z.boolean(),
});

type Props = { open: boolean; onClose: () => void; onCreated: (id: string) => void };

/** Makes a root with its first intermediate. */
export function CreateRootSheet({ open, onClose, onCreated }: Props) {
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      dismissible={false}
      title="New root"
      description="Name, subject and lifetime can’t be changed later."
    >
      {open && <CreateForm onClose={onClose} onCreated={onCreated} />}
    </Sheet>
  );
}

function CreateForm({ onClose, onCreated }: Omit<Props, 'open'>) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { space } = useScope();
  const form = useZodForm({
    schema: NewRoot,
    defaultValues: {
      ...{ name: '', common_name: '', organization: '', organizational_unit: '', country: '', province: '', locality: '' },
      ...{ years: '10', intermediate_days: DEFAULT_INTERMEDIATE_DAYS, publish: true },
    },
  });
  const { refusal, panel, refuse, clear } = useFormRefusal(form);
  useUnsavedGuard(form.formState.isDirty);
  const create = useMutation(
    trpc.pki.createRoot.mutationOptions({
      onError: refuse,
      onSuccess: ({ root }) => {
        void queryClient.invalidateQueries(trpc.pki.pathFilter());
        void queryClient.invalidateQueries(trpc.account.pathFilter());
        notifyDone(`Root ${root.name} created`);
        onCreated(root.id);
      },
    }),
  );
  const values = form.watch();
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
      <Field label="Name" required error={fieldError(form, 'name')} hint="Callers use it in URLs.">
        <Input mono placeholder="corp" autoComplete="off" {...form.register('name')} />
      </Field>
      <Field label="Common name" required error={fieldError(form, 'common_name')} hint="What certificate viewers show as the issuer.">
        <Input placeholder="Acme Internal CA" autoComplete="off" {...form.register('common_name')} />
      </Field>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Organization" optional error={fieldError(form, 'organization')}>
          <Input placeholder="Acme" autoComplete="off" {...form.register('organization')} />
        </Field>
        <Field label="Organizational unit" optional error={fieldError(form, 'organizational_unit')}>
          <Input placeholder="Platform" autoComplete="off" {...form.register('organizational_unit')} />
        </Field>
        <Field label="Country" optional error={fieldError(form, 'country')}>
          <Input placeholder="DE" maxLength={2} autoComplete="off" {...form.register('country')} />
        </Field>
        <Field label="State or province" optional error={fieldError(form, 'province')}>
          <Input autoComplete="off" {...form.register('province')} />
        </Field>
        <Field label="Locality" optional error={fieldError(form, 'locality')}>
          <Input autoComplete="off" {...form.register('locality')} />
        </Field>
      </div>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Valid for" error={fieldError(form, 'years')}>
          <Input inputMode="numeric" suffix="years" {...form.register('years')} />
        </Field>
        <Field
          label="Intermediates last"
          error={fieldError(form, 'intermediate_days')}
          hint="At least 1.5 times as long as certificates shall last."
        >
          <Input inputMode="numeric" suffix="days" {...form.register('intermediate_days')} />
        </Field>
      </div>
      <Checkbox
        checked={values.publish}
        onCheckedChange={(on) => form.setValue('publish', on, { shouldDirty: true })}
        label="Publish certificates and revocation lists"
        description="Serves them without authentication, and writes their addresses into certificates."
      />
      <ApiEquivalent method="POST" path="/pki/roots" body={inputOf({ ...values, name: values.name || 'NAME' })} />
      <SheetFooter>
        <SpaceNote space={space} />
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" keys="mod+enter" loading={create.isPending}>
            Create root
          </Button>
        </div>
      </SheetFooter>
    </Form>
  );
}

/** What isn't said isn't sent. */
function inputOf({ name, years, intermediate_days, publish, ...subject }: z.output<typeof NewRoot>) {
  const given = Object.entries(subject).flatMap(([field, value]) => (value.trim() === '' ? [] : [[field, value.trim()]]));
  return {
    name,
    subject: Object.fromEntries(given) as { common_name: string },
    ...(years === '10' ? {} : { ttl_seconds: Number(years) * 365 * DAY }),
    ...(intermediate_days === DEFAULT_INTERMEDIATE_DAYS ? {} : { intermediate_ttl_seconds: Number(intermediate_days) * DAY }),
    ...(publish ? {} : { publish }),
  };
}
