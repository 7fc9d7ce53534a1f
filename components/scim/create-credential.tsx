'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { z } from 'zod';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { handOver } from '#components/trpc/handover.ts';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { RadioCards } from '#components/ui/choices.tsx';
import { DateTimeInput } from '#components/ui/date-time-input.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';

const YEAR_MS = 365 * 24 * 3_600_000;

const NewCredential = z.object({
  name: z.string().trim().min(1, 'is required').max(100),
  expires_at: z.string('is required'),
  space: z.enum(['live', 'test']),
});

/** Makes a credential. Its token is shown once, over whatever page is open by then. */
export function CreateCredential({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      dismissible={false}
      title="New SCIM credential"
      description="The token is shown once, right after you create it."
    >
      {open && <CreateForm onClose={onClose} />}
    </Sheet>
  );
}

function CreateForm({ onClose }: { onClose: () => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { person, slug } = useScope();
  const form = useZodForm({
    schema: NewCredential,
    defaultValues: { name: '', expires_at: new Date(Date.now() + YEAR_MS).toISOString(), space: 'live' },
  });
  const { refusal, panel, refuse, clear } = useFormRefusal(form);
  useUnsavedGuard(form.formState.isDirty);
  const create = useMutation(
    trpc.scimCredentials.create.mutationOptions({
      gcTime: 0,
      onError: refuse,
      onSuccess: ({ token }) => {
        void cache.invalidateQueries(trpc.scimCredentials.pathFilter());
        onClose();
        handOver([{ name: 'scim_token', value: token, person, from: `Created for ${slug}.` }]);
        // The answer holds the token; the card has the only copy now.
        create.reset();
      },
    }),
  );
  const values = form.watch();
  return (
    <Form
      form={form}
      refusal={refusal}
      className="grow"
      onSubmit={(value) => {
        clear();
        create.mutate(value);
      }}
    >
      {panel}
      <Field label="Name" required error={fieldError(form, 'name')} hint="The directory that uses it. Shown in the audit log.">
        <Input placeholder="Okta" autoComplete="off" {...form.register('name')} />
      </Field>
      <Field
        label="Expires"
        required
        error={fieldError(form, 'expires_at')}
        hint="From 1 hour to 366 days from now. Owners are reminded 30, 7 and 1 days before."
      >
        <DateTimeInput
          value={values.expires_at}
          onChange={(at) => form.setValue('expires_at', at as string, { shouldDirty: true, shouldValidate: true })}
        />
      </Field>
      <Field group label="Space">
        <RadioCards
          columns={2}
          value={values.space}
          onValueChange={(next) => form.setValue('space', next, { shouldDirty: true })}
          options={[
            { value: 'live', title: 'Live', description: 'People, and OAuth clients of Live.' },
            { value: 'test', title: 'Test', description: 'OAuth clients of Test only.' },
          ]}
        />
      </Field>
      <SheetFooter>
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" keys="mod+enter" loading={create.isPending}>
            Create credential
          </Button>
        </div>
      </SheetFooter>
    </Form>
  );
}
