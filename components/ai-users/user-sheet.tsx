'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { z } from 'zod';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import type { UserRow } from './user-row.ts';

const UserFields = z.object({
  external_id: z.string().trim().min(1, 'is required').max(200),
  display_name: z.string().max(200),
  email: z.union([z.literal(''), z.email()]),
  team: z.string().max(100),
});

type Props = { open: boolean; user: UserRow | undefined; onClose: () => void };

/** Adds a user, or changes what is known about one. The external ID stays. */
export function UserSheet({ open, user, onClose }: Props) {
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      dismissible={false}
      title={user ? `Edit ${user.display_name ?? user.external_id}` : 'New AI user'}
    >
      {open && <UserForm user={user} onClose={onClose} />}
    </Sheet>
  );
}

function UserForm({ user, onClose }: Omit<Props, 'open'>) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { space } = useScope();
  const form = useZodForm({
    schema: UserFields,
    defaultValues: {
      external_id: user?.external_id ?? '',
      display_name: user?.display_name ?? '',
      email: user?.email ?? '',
      team: user?.team ?? '',
    },
  });
  const { refusal, panel, refuse, clear } = useFormRefusal(form);
  useUnsavedGuard(form.formState.isDirty);
  const done = {
    onError: refuse,
    onSuccess: () => {
      notifyDone('User saved');
      onClose();
      return cache.invalidateQueries(trpc.aiSpend.pathFilter());
    },
  };
  const create = useMutation(trpc.aiSpend.createUser.mutationOptions(done));
  const update = useMutation(trpc.aiSpend.updateUser.mutationOptions(done));
  const values = form.watch();
  const attributes = ({ display_name, email, team }: z.output<typeof UserFields>) => ({
    display_name: display_name.trim() || null,
    email: email || null,
    team: team.trim() || null,
  });
  return (
    <Form
      form={form}
      refusal={refusal}
      className="grow"
      onSubmit={(value) => {
        clear();
        if (user) update.mutate({ id: user.id, ...attributes(value) });
        else create.mutate({ external_id: value.external_id, ...attributes(value) });
      }}
    >
      {panel}
      <Field label="External ID" required error={fieldError(form, 'external_id')} hint="As X-Svc-User names them. It can’t be changed.">
        <Input mono autoComplete="off" readOnly={user !== undefined} placeholder="alice" {...form.register('external_id')} />
      </Field>
      <Field label="Name" optional error={fieldError(form, 'display_name')}>
        <Input autoComplete="off" {...form.register('display_name')} />
      </Field>
      <Field label="Email" optional error={fieldError(form, 'email')}>
        <Input type="email" autoComplete="off" {...form.register('email')} />
      </Field>
      <Field label="Team" optional error={fieldError(form, 'team')} hint="Spend can be grouped and exported by team.">
        <Input autoComplete="off" placeholder="Support" {...form.register('team')} />
      </Field>
      <ApiEquivalent
        method={user ? 'PATCH' : 'POST'}
        path={user ? `/ai-gateway/users/${user.id}` : '/ai-gateway/users'}
        body={user ? attributes(values) : { external_id: values.external_id || 'EXTERNAL_ID', ...attributes(values) }}
      />
      <SheetFooter>
        <SpaceNote space={space} />
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" keys="mod+enter" loading={create.isPending || update.isPending}>
            {user ? 'Save' : 'Add user'}
          </Button>
        </div>
      </SheetFooter>
    </Form>
  );
}
