'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { listOf } from '#components/secrets/secret-text.ts';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Field } from '#components/ui/field.tsx';
import { Textarea } from '#components/ui/input.tsx';
import { Sheet } from '#components/ui/sheet.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { CredentialRow } from './rows.ts';

/** Where a key may go. Taking a host away ends its tokens; adding one is told to Owners. */
export function HostsSheet({ credential, onClose }: { credential: CredentialRow | undefined; onClose: () => void }) {
  return (
    <Sheet
      open={credential !== undefined}
      onOpenChange={(next) => next || onClose()}
      title="Edit hosts"
      description={credential?.name}
      size="sm"
    >
      {credential && <Hosts key={credential.secret_id} credential={credential} onDone={onClose} />}
    </Sheet>
  );
}

function Hosts({ credential, onDone }: { credential: CredentialRow; onDone: () => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const [text, setText] = useState(credential.allowed_hosts.join('\n'));
  const hosts = listOf(text);
  const removed = credential.allowed_hosts.filter((host) => !hosts.includes(host));
  const added = hosts.filter((host) => !credential.allowed_hosts.includes(host));
  const save = useMutation(
    trpc.wrap.updateCredential.mutationOptions({
      onSuccess: async () => {
        notifyDone('Hosts saved');
        await cache.invalidateQueries(trpc.wrap.pathFilter());
        onDone();
      },
    }),
  );
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate({ secret_id: credential.secret_id, hosts });
      }}
    >
      <Field label="Hosts" hint="One hostname per line, such as api.stripe.com. No scheme, port or wildcard.">
        <Textarea mono rows={5} value={text} onChange={(event) => setText(event.target.value)} />
      </Field>
      {added.length > 0 && (
        <Callout title="The stored key can be sent to the hosts you add">Confirm it’s you to save. Owners are told by email.</Callout>
      )}
      {removed.length > 0 && (
        <Callout tone="warn" title={`Gateway tokens for ${removed.join(', ')} are revoked`}>
          Calls that use them are refused from the next one on.
        </Callout>
      )}
      <ApiEquivalent method="PATCH" path={`/wrap/credentials/${credential.secret_id}`} body={{ hosts }} />
      <MutationError error={save.error} />
      <Button
        variant="primary"
        type="submit"
        loading={save.isPending}
        disabledReason={hosts.length === 0 ? 'Name at least one host' : undefined}
      >
        Save
      </Button>
    </form>
  );
}
