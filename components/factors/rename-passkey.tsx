'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { usePersonCall } from '#components/me/person-calls.ts';
import { ME } from '#components/me/use-me.ts';
import { refusalOf } from '#components/trpc/refusal.ts';
import { Button } from '#components/ui/button.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import type { Passkey } from './factor-text.ts';

/** The name is for its owner alone. */
export function RenamePasskey({ passkey, onClose }: { passkey: Passkey | undefined; onClose: () => void }) {
  const call = usePersonCall();
  const queryClient = useQueryClient();
  const [name, setName] = useState('');
  const [of, setOf] = useState<Passkey>();
  if (passkey && passkey !== of) {
    setOf(passkey);
    setName(passkey.name);
  }
  const close = () => {
    setOf(undefined);
    rename.reset();
    onClose();
  };
  const rename = useMutation({
    mutationFn: (id: string) => call('PATCH', `/auth/passkeys/${id}`, { name: name.trim() }),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: ME });
      close();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (passkey && name.trim() !== '') rename.mutate(passkey.id);
  };
  const form = 'rename-passkey';
  return (
    <Dialog
      open={passkey !== undefined}
      onOpenChange={(next) => !next && close()}
      title="Rename passkey"
      footer={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button
            type="submit"
            form={form}
            variant="primary"
            loading={rename.isPending}
            disabledReason={name.trim() === '' ? 'Enter a name first' : undefined}
          >
            Save
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit}>
        <Field label="Name" error={rename.error ? refusalOf(rename.error).message : undefined}>
          <Input value={name} maxLength={60} onChange={(event) => setName(event.target.value)} />
        </Field>
      </form>
    </Dialog>
  );
}
