'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { Select } from '#components/ui/select.tsx';
import { Sheet } from '#components/ui/sheet.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { CredentialRow } from './rows.ts';

/** A route to a host of a wrap credential, with the key put in: what the SDK's calls grow into when they need limits and clients. */
export function PromoteSheet({ credential, onClose }: { credential: CredentialRow | undefined; onClose: () => void }) {
  return (
    <Sheet
      open={credential !== undefined}
      onOpenChange={(next) => next || onClose()}
      title="Promote to route"
      description={credential?.name}
      size="sm"
    >
      {credential && <Promote key={credential.secret_id} credential={credential} />}
    </Sheet>
  );
}

function Promote({ credential }: { credential: CredentialRow }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const router = useRouter();
  const path = usePath();
  const [name, setName] = useState(credential.provider);
  const [host, setHost] = useState(credential.allowed_hosts[0] ?? '');
  const create = useMutation(
    trpc.routes.create.mutationOptions({
      onSuccess: async (route) => {
        notifyDone(`Route ${route.name} created`);
        await cache.invalidateQueries(trpc.routes.pathFilter());
        router.push(path(`/routes/${route.id}`));
      },
    }),
  );
  const body = {
    name: name.trim(),
    target_base_url: `https://${host}`,
    inject_headers_json: { [credential.header_name]: `${credential.value_prefix}{{secret:${credential.name}}}` },
  };
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate(body);
      }}
    >
      <p className="text-ink-2">
        A route has clients, limits and settings of its own. The key is put into its calls; gateway tokens go on working.
      </p>
      <Field label="Name" required>
        <Input value={name} maxLength={100} onChange={(event) => setName(event.target.value)} />
      </Field>
      {credential.allowed_hosts.length > 1 && (
        <Field label="Host">
          <Select value={host} onValueChange={setHost} options={credential.allowed_hosts.map((value) => ({ value, label: value }))} />
        </Field>
      )}
      <ApiEquivalent method="POST" path="/routes" body={body} />
      <MutationError error={create.error} />
      <Button variant="primary" type="submit" loading={create.isPending} disabledReason={body.name === '' ? 'Name the route' : undefined}>
        Create route
      </Button>
    </form>
  );
}
