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
import type { OpportunityRow } from './evidence.ts';

const FORM = 'dismiss-opportunity';

/** Says no to a suggestion, with a reason for whoever looks next. */
export function DismissDialog({ opportunity, onClose }: { opportunity: OpportunityRow | undefined; onClose: () => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const [reason, setReason] = useState('');
  const reopen = useMutation(
    trpc.opportunities.reopen.mutationOptions({ onSettled: () => cache.invalidateQueries(trpc.opportunities.pathFilter()) }),
  );
  const dismiss = useMutation(
    trpc.opportunities.dismiss.mutationOptions({
      onSuccess: async ({ opportunity_id: id }) => {
        notifyDone('Dismissed', { run: () => reopen.mutate({ id }) });
        close();
        await cache.invalidateQueries(trpc.opportunities.pathFilter());
      },
    }),
  );
  const close = () => {
    setReason('');
    dismiss.reset();
    onClose();
  };
  const body = reason.trim() ? { reason: reason.trim() } : {};
  return (
    <Dialog
      open={opportunity !== undefined}
      onOpenChange={(next) => next || close()}
      title={`Dismiss ${opportunity?.destination_host ?? ''}?`}
      description="The host isn’t suggested again until you reopen it."
      footer={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button variant="primary" type="submit" form={FORM} loading={dismiss.isPending}>
            Dismiss
          </Button>
        </>
      }
    >
      {opportunity && (
        <form
          id={FORM}
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            dismiss.mutate({ id: opportunity.id, ...body });
          }}
        >
          <Field label="Reason" optional hint="Kept in the audit log.">
            <Input value={reason} maxLength={300} onChange={(event) => setReason(event.target.value)} />
          </Field>
          <ApiEquivalent method="POST" path={`/opportunities/${opportunity.id}/dismiss`} body={body} />
          <MutationError error={dismiss.error} />
        </form>
      )}
    </Dialog>
  );
}
