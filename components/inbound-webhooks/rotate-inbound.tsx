'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { Field } from '#components/ui/field.tsx';
import { SecretInput } from '#components/ui/secret-input.tsx';
import { onceOnly, ShownOnce } from '#components/ui/shown-once.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { FORMAT_LABELS, type InboundRow } from './inbound-labels.ts';

type Props = { open: boolean; receiver: InboundRow | undefined; onClose: () => void };

/** Replaces the secret: with the one that the sender has made, or with a new one. */
export function RotateInbound({ open, receiver, onClose }: Props) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const [secret, setSecret] = useState('');
  const [made, setMade] = useState<string>();
  const close = () => {
    setSecret('');
    rotate.reset();
    onClose();
  };
  const rotate = useMutation(
    trpc.inboundWebhooks.rotateSecret.mutationOptions({
      gcTime: 0,
      onSuccess: async ({ secret_key }) => {
        setSecret('');
        if (secret_key !== null) setMade(secret_key);
        else {
          notifyDone('The secret was replaced');
          close();
        }
        await cache.invalidateQueries(trpc.inboundWebhooks.pathFilter());
      },
    }),
  );
  return (
    <>
      <Dialog
        open={open && made === undefined}
        onOpenChange={(next) => next || close()}
        title={`Rotate the secret of ${receiver?.name ?? ''}`}
        size="md"
        footer={
          <>
            <Button onClick={close}>Cancel</Button>
            <Button
              variant="primary"
              loading={rotate.isPending}
              onClick={() => receiver && rotate.mutate({ id: receiver.id, ...(secret === '' ? {} : { secret }) })}
            >
              Rotate secret
            </Button>
          </>
        }
      >
        <div className="flex flex-col gap-4">
          <Callout tone="warn" title="The old secret ends at once">
            Calls that are signed with it are refused from then on. Most senders send again later.
          </Callout>
          <Field
            label="New secret"
            optional
            error={rotate.error ? refusalOf(rotate.error).message : undefined}
            hint={`${receiver ? FORMAT_LABELS[receiver.format].secret : ''} Leave empty to have one made.`}
          >
            <SecretInput value={secret} onChange={(event) => setSecret(event.target.value)} />
          </Field>
        </div>
      </Dialog>
      <ShownOnce
        value={made}
        title="Secret rotated"
        label="secret"
        description={`Enter it at the sender. ${onceOnly('secret')}`}
        filename="inbound-webhook-secret.txt"
        onGone={() => {
          setMade(undefined);
          close();
        }}
      />
    </>
  );
}
