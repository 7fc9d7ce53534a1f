'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { handOver, madeIn } from '#components/trpc/handover.ts';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { Field } from '#components/ui/field.tsx';
import { counted } from '#components/ui/numbers.ts';
import { Select } from '#components/ui/select.tsx';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { Detail } from './client-labels.ts';

type Props = { client: Detail; open: boolean; onClose: () => void };

const OVERLAPS = [
  { value: '0', label: 'Stops immediately, and its tokens are revoked' },
  { value: '900', label: 'Works for 15 more minutes' },
  { value: '3600', label: 'Works for 1 more hour' },
  { value: '86400', label: 'Works for 1 more day' },
];

/** A new secret, and what becomes of the old one. */
export function RotateDialog({ client, open, onClose }: Props) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const scope = useScope();
  const [overlap, setOverlap] = useState('3600');
  const input = { overlap_seconds: Number(overlap) };
  const rotate = useMutation(
    trpc.oauthClients.rotateSecret.mutationOptions({
      gcTime: 0,
      onSuccess: ({ client_id, client_secret }) => {
        void queryClient.invalidateQueries(trpc.oauthClients.pathFilter());
        handOver([
          { name: 'client_secret', value: client_secret, person: scope.person, from: `${madeIn(scope)} The client ID is ${client_id}.` },
        ]);
        rotate.reset();
        onClose();
      },
    }),
  );
  const close = () => {
    rotate.reset();
    onClose();
  };
  return (
    <Dialog
      open={open}
      onOpenChange={(next) => next || close()}
      title={`Rotate the secret of ${client.name}`}
      description="Creates a new secret, which is shown once. The client ID stays the same."
      footer={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button
            variant={overlap === '0' ? 'danger' : 'primary'}
            loading={rotate.isPending}
            onClick={() => rotate.mutate({ id: client.id, ...input })}
          >
            Rotate secret
          </Button>
        </>
      }
    >
      <Field label="Old secret" hint={overlap === '0' ? undefined : 'Its tokens stay valid. An even older secret stops working now.'}>
        <Select options={OVERLAPS} value={overlap} onValueChange={setOverlap} />
      </Field>
      {overlap === '0' && (
        <Callout tone="warn" title="For a secret that leaked">
          Everything that uses the old secret fails until it has the new one. People who granted access have to sign in again.
        </Callout>
      )}
      <MutationError error={rotate.error} />
      <ApiEquivalent oauth method="POST" path={`/oauth-clients/${client.id}/rotate-secret`} body={input} />
    </Dialog>
  );
}

/** Asks before a client stops for good, with what would stop with it. */
export function RevokeDialog({ client, open, onClose }: Props) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { space } = useScope();
  const grants = useQuery(trpc.oauthClients.listGrants.queryOptions({ id: client.id }, { enabled: open }));
  const revoke = useMutation(
    trpc.oauthClients.revoke.mutationOptions({
      onSuccess: () => {
        void queryClient.invalidateQueries(trpc.oauthClients.pathFilter());
        void queryClient.invalidateQueries(trpc.account.pathFilter());
        notifyDone(`${client.name} revoked`);
        onClose();
      },
    }),
  );
  const people = grants.data?.data.length ?? 0;
  return (
    <ConfirmDanger
      open={open}
      onOpenChange={(next) => {
        if (next) return;
        revoke.reset();
        onClose();
      }}
      title={`Revoke ${client.name}?`}
      consequences={[
        'Its secret and all its tokens stop working immediately. This can’t be undone.',
        grants.isPending
          ? 'Counting who granted it access…'
          : people === 0
            ? 'Nobody has granted it access.'
            : `${counted(people, 'grant')} of people end.`,
        ...(client.trust_binding_count > 0 ? [`${counted(client.trust_binding_count, 'trust binding')} stop working.`] : []),
        client.last_used_at ? (
          <>
            Last used <Time value={client.last_used_at} />.
          </>
        ) : (
          'Never used.'
        ),
        'It stays listed as revoked.',
      ]}
      confirmLabel="Revoke client"
      resourceName={client.name}
      space={space}
      busy={revoke.isPending}
      error={revoke.error ? refusalOf(revoke.error) : undefined}
      onConfirm={() => revoke.mutate({ id: client.id })}
    >
      <ApiEquivalent oauth method="DELETE" path={`/oauth-clients/${client.id}`} />
    </ConfirmDanger>
  );
}

/** Asks before a client is turned off: tokens that end don't come back. */
export function TurnOffDialog({ client, open, onClose }: Props) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { space } = useScope();
  const update = useMutation(
    trpc.oauthClients.update.mutationOptions({
      onSuccess: () => {
        void queryClient.invalidateQueries(trpc.oauthClients.pathFilter());
        onClose();
      },
    }),
  );
  return (
    <ConfirmDanger
      open={open}
      onOpenChange={(next) => {
        if (next) return;
        update.reset();
        onClose();
      }}
      title={`Turn off ${client.name}?`}
      consequences={[
        'All its tokens are revoked immediately, and it gets no new ones.',
        'People who granted it access have to do so again after you turn it on.',
        'Its secret is kept.',
      ]}
      confirmLabel="Turn off"
      space={space}
      busy={update.isPending}
      error={update.error ? refusalOf(update.error) : undefined}
      onConfirm={() => update.mutate({ id: client.id, active: false })}
    >
      <ApiEquivalent oauth method="PATCH" path={`/oauth-clients/${client.id}`} body={{ active: false }} />
    </ConfirmDanger>
  );
}
