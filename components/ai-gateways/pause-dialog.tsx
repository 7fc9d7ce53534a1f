'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';

type Props = { of: 'gateway' | 'agent'; id: string; name: string; open: boolean; onClose: () => void };

/** The kill switch: asks why, and stops calls within a second. Stopping takes no second factor. */
export function PauseDialog({ of, id, name, open, onClose }: Props) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const [reason, setReason] = useState('');
  const done = {
    onSuccess: () => {
      notifyDone(`${name} paused`);
      setReason('');
      onClose();
      return cache.invalidateQueries(trpc.aiGateways.pathFilter());
    },
  };
  const gateway = useMutation(trpc.aiGateways.pause.mutationOptions(done));
  const agent = useMutation(trpc.aiGateways.pauseAgent.mutationOptions(done));
  const pause = of === 'gateway' ? gateway : agent;
  const input = reason.trim() === '' ? {} : { reason: reason.trim() };
  const close = () => {
    pause.reset();
    onClose();
  };
  return (
    <Dialog
      open={open}
      onOpenChange={(next) => next || close()}
      title={`Pause ${name}?`}
      description={
        of === 'gateway'
          ? 'Calls of every agent and MCP server in it are refused within a second, and running streams are cut.'
          : 'Its calls are refused within a second, and running streams are cut.'
      }
      footer={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button variant="danger" loading={pause.isPending} onClick={() => pause.mutate({ id, ...input })}>
            Pause {of}
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          pause.mutate({ id, ...input });
        }}
      >
        <Field label="Reason" optional hint="Shown to the team and recorded in the audit log. Callers don’t see it.">
          <Input
            value={reason}
            maxLength={500}
            placeholder="Runaway loop in the support bot"
            onChange={(event) => setReason(event.target.value)}
          />
        </Field>
        <MutationError error={pause.error} />
        <ApiEquivalent
          method="POST"
          path={of === 'gateway' ? `/ai-gateway/gateways/${id}/pause` : `/ai-gateway/agents/${id}/pause`}
          body={input}
        />
      </form>
    </Dialog>
  );
}
