'use client';

import { useMutation } from '@tanstack/react-query';
import { z } from 'zod';
import { revealCall } from '#components/reveals/reveal-call.ts';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useScope, useTRPCClient } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Checkbox, RadioCards } from '#components/ui/choices.tsx';
import { DateTimeInput } from '#components/ui/date-time-input.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { Select } from '#components/ui/select.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { LEVEL_LABELS } from '#server/domain/secret-shares/levels.shared.ts';
import type { SecretDetail } from '#server/domain/secrets/schema.ts';

const LEVELS = ['use', 'view', 'manage'] as const;
const ABOUT = {
  use: 'Their calls carry it. Nobody there sees it.',
  view: 'They can also reveal it, after confirming who they are.',
  manage: 'They can also replace its value, for you too.',
};
const linesOf = (text: string) => text.split(/[\s,]+/).filter((line) => line !== '');

const NewShare = z
  .object({
    email: z.email('must be an email address'),
    access_level: z.enum(LEVELS),
    hosts: z.string().max(15_000),
    unrestricted: z.boolean(),
    environment: z.string(),
    expires_at: z.string().nullable(),
    message: z.string().max(500),
  })
  .refine(({ unrestricted, hosts }) => unrestricted || linesOf(hosts).length > 0, { path: ['hosts'], message: 'Name at least one host' });

type Props = { open: boolean; secret: z.output<typeof SecretDetail>; onClose: () => void; onShared: () => void };

/** Offers a secret to an address of another workspace. */
export function ShareSheet({ open, secret, onClose, onShared }: Props) {
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      dismissible={false}
      title={`Share ${secret.name}`}
      description="The value stays in this workspace. You can revoke the share at any time, with effect from the next call."
    >
      {open && <ShareForm secret={secret} onClose={onClose} onShared={onShared} />}
    </Sheet>
  );
}

function ShareForm({ secret, onClose, onShared }: Omit<Props, 'open'>) {
  const client = useTRPCClient();
  const { space } = useScope();
  const form = useZodForm({
    schema: NewShare,
    defaultValues: {
      email: '',
      access_level: 'use',
      hosts: secret.allowed_hosts?.join('\n') ?? '',
      unrestricted: false,
      environment: secret.base_environment ?? '',
      expires_at: null,
      message: '',
    },
  });
  const { refusal, panel, refuse, clear } = useFormRefusal(form);
  useUnsavedGuard(form.formState.isDirty);
  const notAdmin = useForbidden('member:invite');
  const share = useMutation({
    mutationFn: ({ hosts, unrestricted, message, ...value }: z.output<typeof NewShare>) =>
      client.secretShares.create.mutate(
        {
          id: secret.id,
          ...value,
          ...(unrestricted ? { unrestricted } : { allowed_hosts: linesOf(hosts) }),
          ...(message === '' ? {} : { message }),
        },
        revealCall(),
      ),
    onError: refuse,
    onSuccess: ({ recipient_email }) => {
      onShared();
      notifyDone(`Offered to ${recipient_email}`);
      onClose();
    },
  });
  const values = form.watch();
  const discloses = values.access_level !== 'use' || values.unrestricted;
  return (
    <Form
      form={form}
      onSubmit={(value) => {
        clear();
        share.mutate(value);
      }}
      refusal={refusal}
      className="grow"
    >
      {panel}
      <Field
        label="Email address"
        required
        error={fieldError(form, 'email')}
        hint="Only the person with this address can accept, into a workspace of theirs."
      >
        <Input type="email" autoComplete="off" placeholder="dev@partner.example" {...form.register('email')} />
      </Field>
      <Field group label="Level">
        <RadioCards
          value={values.access_level}
          onValueChange={(level) => form.setValue('access_level', level, { shouldDirty: true })}
          options={LEVELS.map((value) => ({ value, title: LEVEL_LABELS[value], description: ABOUT[value] }))}
        />
      </Field>
      <Field
        label="Allowed hosts"
        error={fieldError(form, 'hosts')}
        hint="One host per line, such as api.example.com or *.example.com. It is never sent anywhere else."
      >
        <Textarea mono rows={3} disabled={values.unrestricted} {...form.register('hosts')} />
      </Field>
      <Checkbox
        label="Any host"
        checked={values.unrestricted}
        onCheckedChange={(checked) => form.setValue('unrestricted', checked, { shouldDirty: true })}
      />
      {values.unrestricted && (
        <Callout tone="bad" title="The recipient can get the value">
          Without a list of hosts they can send it to a server of their own and read it there. Share it like this only with people you would
          hand the value to.
        </Callout>
      )}
      <Field
        label="Environment"
        error={fieldError(form, 'environment')}
        hint="The value of this environment is shared, whatever they call it."
      >
        <Select
          value={values.environment}
          onValueChange={(name) => form.setValue('environment', name, { shouldDirty: true })}
          options={secret.environment_names.map((name) => ({ value: name, label: name }))}
        />
      </Field>
      <Field label="Ends" optional error={fieldError(form, 'expires_at')}>
        <DateTimeInput value={values.expires_at} onChange={(at) => form.setValue('expires_at', at, { shouldDirty: true })} label="Ends" />
      </Field>
      <Field label="Message" optional error={fieldError(form, 'message')}>
        <Textarea rows={2} {...form.register('message')} />
      </Field>
      {discloses && (
        <Callout tone="warn" title="This takes a confirmation, like a reveal">
          Owners and Admins only. Your name goes to the audit log and to the reveal log.
        </Callout>
      )}
      <SheetFooter>
        <SpaceNote space={space} />
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" loading={share.isPending} disabledReason={discloses ? notAdmin : undefined}>
            Share secret
          </Button>
        </div>
      </SheetFooter>
    </Form>
  );
}
