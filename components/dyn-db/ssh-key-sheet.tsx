'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { z } from 'zod';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { SecretInput } from '#components/ui/secret-input.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import type { Connection } from './labels.ts';

const NewKey = z.object({
  ssh_private_key: z.string().min(1, 'is required').max(32_768),
  ssh_passphrase: z.string().max(1_024),
  ssh_host_fingerprint: z.string().regex(/^$|^SHA256:[A-Za-z0-9+/]{43}$/, 'must be SHA256: and 43 characters'),
});

type Props = { open: boolean; connection: Connection; onClose: () => void };

/** Another key for the jump host, which must work before it is stored. */
export function SshKeySheet({ open, connection, onClose }: Props) {
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      dismissible={false}
      title="Rotate SSH key"
      description="The service logs in with the new key first. If that fails, the old one stays."
    >
      {open && <KeyForm connection={connection} onClose={onClose} />}
    </Sheet>
  );
}

function KeyForm({ connection, onClose }: Omit<Props, 'open'>) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { space } = useScope();
  const form = useZodForm({
    schema: NewKey,
    defaultValues: { ssh_private_key: '', ssh_passphrase: '', ssh_host_fingerprint: connection.ssh_host_fingerprint ?? '' },
  });
  const { refusal, panel, refuse, clear } = useFormRefusal(form);
  useUnsavedGuard(form.formState.isDirty);
  const rotate = useMutation(
    trpc.dynDb.rotate_ssh_key.mutationOptions({
      gcTime: 0,
      onError: refuse,
      onSuccess: async ({ fingerprint_updated }) => {
        form.reset({ ssh_private_key: '', ssh_passphrase: '', ssh_host_fingerprint: '' });
        notifyDone(fingerprint_updated ? 'SSH key rotated, and another host key pinned' : 'SSH key rotated');
        await cache.invalidateQueries(trpc.dynDb.pathFilter());
        onClose();
      },
    }),
  );
  const fingerprint = form.watch('ssh_host_fingerprint');
  return (
    <Form
      form={form}
      refusal={refusal}
      className="grow"
      onSubmit={({ ssh_private_key, ssh_passphrase, ssh_host_fingerprint }) => {
        clear();
        rotate.mutate({
          connection: connection.name,
          ssh_private_key,
          ...(ssh_passphrase === '' ? {} : { ssh_passphrase }),
          ...(ssh_host_fingerprint === '' ? {} : { ssh_host_fingerprint }),
        });
      }}
    >
      {panel}
      <Field
        label="SSH private key"
        required
        error={fieldError(form, 'ssh_private_key')}
        hint={`For ${connection.ssh_username} on ${connection.ssh_host}. Encrypted, and never shown again.`}
      >
        <Textarea
          mono
          rows={6}
          spellCheck={false}
          autoComplete="off"
          placeholder="-----BEGIN OPENSSH PRIVATE KEY-----"
          {...form.register('ssh_private_key')}
        />
      </Field>
      <Field label="Passphrase" optional error={fieldError(form, 'ssh_passphrase')} hint="If the key is encrypted.">
        <SecretInput {...form.register('ssh_passphrase')} />
      </Field>
      <Field
        label="Host key fingerprint"
        optional
        error={fieldError(form, 'ssh_host_fingerprint')}
        hint="The key that the jump host must show. Change it only when you know that the host has a new one."
      >
        <Input mono placeholder="SHA256:…" autoComplete="off" {...form.register('ssh_host_fingerprint')} />
      </Field>
      <ApiEquivalent
        method="POST"
        path={`/dyn-db-credentials/${connection.name}/rotate-ssh-key`}
        body={{ ssh_private_key: 'PRIVATE_KEY', ...(fingerprint ? { ssh_host_fingerprint: fingerprint } : {}) }}
      />
      <SheetFooter>
        <SpaceNote space={space} />
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" keys="mod+enter" loading={rotate.isPending}>
            Rotate key
          </Button>
        </div>
      </SheetFooter>
    </Form>
  );
}
