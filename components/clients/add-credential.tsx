'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { Sheet } from '#components/ui/sheet.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { AddressNote, addressProblem } from './address-note.tsx';
import { CurrentAddress } from './client-form.tsx';
import type { Detail } from './client-labels.ts';

type Props = { client: Detail; open: boolean; onOpenChange: (open: boolean) => void };

/** Another address of a client. */
export function AddCredentialSheet({ client, open, onOpenChange }: Props) {
  return (
    <Sheet open={open} onOpenChange={onOpenChange} title="Add IP address" description={`Another IP address for ${client.name}.`}>
      {open && <AddForm client={client} onDone={() => onOpenChange(false)} />}
    </Sheet>
  );
}

function AddForm({ client, onDone }: { client: Detail; onDone: () => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [label, setLabel] = useState('');
  const [address, setAddress] = useState('');
  const create = useMutation(
    trpc.clients.createCredential.mutationOptions({
      onSuccess: () => {
        void queryClient.invalidateQueries(trpc.clients.pathFilter());
        onDone();
        notifyDone('IP address added');
      },
    }),
  );
  const input = { kind: 'ip' as const, data: { value: address.trim() }, ...(label.trim() ? { label: label.trim() } : {}) };
  const problem = address.trim() ? addressProblem([address])?.replace(`${address}: `, '') : 'Enter an IP address or range';
  return (
    <form
      className="flex flex-col gap-5"
      onSubmit={(event) => {
        event.preventDefault();
        if (problem) return;
        create.mutate({ id: client.id, ...input });
      }}
    >
      <Field label="IP address or range" required action={<CurrentAddress onAddress={setAddress} />} error={address ? problem : undefined}>
        <Input mono value={address} onChange={(event) => setAddress(event.target.value)} placeholder="203.0.113.0/24" />
        <AddressNote text={address} />
      </Field>
      <Field label="Label" optional hint="For example, the machine it belongs to.">
        <Input value={label} maxLength={100} onChange={(event) => setLabel(event.target.value)} />
      </Field>
      <MutationError error={create.error} />
      <ApiEquivalent method="POST" path={`/clients/${client.id}/credentials`} body={input} />
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" variant="primary" loading={create.isPending} disabledReason={problem}>
          Add IP address
        </Button>
      </div>
    </form>
  );
}
