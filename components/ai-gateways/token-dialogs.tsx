'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { handOver, madeIn } from '#components/trpc/handover.ts';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { Button } from '#components/ui/button.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { Field } from '#components/ui/field.tsx';
import { Select } from '#components/ui/select.tsx';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { Token } from './ai-labels.ts';

const GRACE = [
  { value: '0', label: 'Stops immediately' },
  { value: '900', label: 'Works for 15 more minutes' },
  { value: '3600', label: 'Works for 1 more hour' },
  { value: '86400', label: 'Works for 1 more day' },
];

type Props = { token: Token | undefined; onClose: () => void };
const nameOf = (token: Token) => token.name ?? `${token.prefix}…`;

/** A successor with the same rights, and what becomes of the old token. */
export function RotateDialog({ token, onClose }: Props) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const scope = useScope();
  const [grace, setGrace] = useState('3600');
  const [last, setLast] = useState(token);
  if (token && token !== last) setLast(token);
  const rotate = useMutation(
    trpc.aiGateways.rotateAgentToken.mutationOptions({
      gcTime: 0,
      onSuccess: ({ name, token: text }) => {
        void cache.invalidateQueries(trpc.aiGateways.pathFilter());
        handOver([
          {
            name: 'capability_token',
            value: text,
            person: scope.person,
            from: `${madeIn(scope)} It replaces ${name ?? 'an unnamed token'}.`,
          },
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
  if (!last) return null;
  const input = { grace_seconds: Number(grace) };
  return (
    <Dialog
      open={token !== undefined}
      onOpenChange={(next) => next || close()}
      title={`Rotate ${nameOf(last)}`}
      description="Makes a token with the same scope, shown once. Its lifetime starts again."
      footer={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button
            variant={grace === '0' ? 'danger' : 'primary'}
            loading={rotate.isPending}
            onClick={() => last.agent_id && rotate.mutate({ id: last.agent_id, token_id: last.id, ...input })}
          >
            Rotate token
          </Button>
        </>
      }
    >
      <Field label="Old token">
        <Select options={GRACE} value={grace} onValueChange={setGrace} />
      </Field>
      <MutationError error={rotate.error} />
      <ApiEquivalent method="POST" path={`/ai-gateway/agents/${last.agent_id}/tokens/${last.id}/rotate`} body={input} />
    </Dialog>
  );
}

/** Asks before a token stops for good. */
export function RevokeDialog({ token, onClose }: Props) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { space } = useScope();
  const [last, setLast] = useState(token);
  if (token && token !== last) setLast(token);
  const revoke = useMutation(
    trpc.aiGateways.revokeGatewayToken.mutationOptions({
      onSuccess: () => {
        notifyDone('Token revoked');
        onClose();
        return cache.invalidateQueries(trpc.aiGateways.pathFilter());
      },
    }),
  );
  if (!last) return null;
  return (
    <ConfirmDanger
      open={token !== undefined}
      onOpenChange={(next) => {
        if (next) return;
        revoke.reset();
        onClose();
      }}
      title={`Revoke ${nameOf(last)}?`}
      consequences={[
        'Its next call is refused, and running streams are cut within two seconds. This can’t be undone.',
        last.last_used_at ? (
          <>
            Last used <Time value={last.last_used_at} />.
          </>
        ) : (
          'Never used.'
        ),
      ]}
      confirmLabel="Revoke token"
      space={space}
      busy={revoke.isPending}
      error={revoke.error ? refusalOf(revoke.error) : undefined}
      onConfirm={() => revoke.mutate({ id: last.gateway_id, token_id: last.id })}
    >
      <ApiEquivalent method="DELETE" path={`/ai-gateway/gateways/${last.gateway_id}/tokens/${last.id}`} />
    </ConfirmDanger>
  );
}
