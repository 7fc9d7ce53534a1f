'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { z } from 'zod';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { Checkbox, RadioCards } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import type { MemberRole } from '#server/domain/roles/matrix.shared.ts';
import { INVITATION_DAYS } from '#server/domain/team/rank.shared.ts';
import { Invite } from '#server/domain/team/schema.ts';
import { roleOptions } from './member-labels.ts';

/** Asks for an address and a role, and mails the invitation. */
export function InviteSheet({ open, onClose }: { open: boolean; onClose: () => unknown }) {
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      dismissible={false}
      title="Invite to the workspace"
      description={`They get an email with a link that works for ${INVITATION_DAYS} days.`}
    >
      {open && <InviteForm onClose={onClose} />}
    </Sheet>
  );
}

function InviteForm({ onClose }: { onClose: () => unknown }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { role: own } = useScope();
  const form = useZodForm({ schema: Invite, defaultValues: { email: '', role: 'viewer', reveal_secrets: false } });
  const { refusal, panel, refuse, clear } = useFormRefusal(form);
  useUnsavedGuard(form.formState.isDirty);
  const invite = useMutation(
    trpc.team.invite.mutationOptions({
      onError: refuse,
      onSuccess: ({ email }) => {
        void cache.invalidateQueries(trpc.team.pathFilter());
        void cache.invalidateQueries(trpc.account.pathFilter());
        notifyDone(`Invitation sent to ${email}`);
        void onClose();
      },
    }),
  );
  const values = form.watch();
  const inputOf = ({ email, role, reveal_secrets }: z.input<typeof Invite>) => ({
    email,
    role,
    reveal_secrets: role === 'editor' && Boolean(reveal_secrets),
  });
  return (
    <Form
      form={form}
      refusal={refusal}
      className="grow"
      onSubmit={(value) => {
        clear();
        invite.mutate(inputOf(value));
      }}
    >
      {panel}
      <Field label="Email" required error={fieldError(form, 'email')} hint="Inviting an address again replaces the earlier invitation.">
        <Input {...form.register('email')} type="email" inputMode="email" autoComplete="off" placeholder="sam@example.com" />
      </Field>
      <Field group label="Role" error={fieldError(form, 'role')}>
        <RadioCards
          value={values.role}
          onValueChange={(role) => form.setValue('role', role as typeof values.role, { shouldDirty: true })}
          options={roleOptions(own as MemberRole, { owner: false })}
        />
      </Field>
      {values.role === 'editor' && (
        <Checkbox
          checked={values.reveal_secrets ?? false}
          onCheckedChange={(on) => form.setValue('reveal_secrets', on, { shouldDirty: true })}
          label="Can reveal secret values"
          description="Each reveal takes their second factor and is recorded."
        />
      )}
      <ApiEquivalent method="POST" path="/admin/invitations" body={inputOf(values)} />
      <SheetFooter>
        <Button onClick={() => void onClose()}>Cancel</Button>
        <Button type="submit" variant="primary" loading={invite.isPending}>
          Send invitation
        </Button>
      </SheetFooter>
    </Form>
  );
}
