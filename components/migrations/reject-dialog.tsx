'use client';

import { useState } from 'react';
import { Button } from '#components/ui/button.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { counted } from '#components/ui/numbers.ts';

type Props = { open: boolean; count: number; onClose: () => void; onReject: (reason: string) => Promise<void> };

/** Why items aren't taken over. Their values are erased with the answer. */
export function RejectDialog({ open, count, onClose, onReject }: Props) {
  const [reason, setReason] = useState('');
  const [busy, setBusy] = useState(false);
  const submit = async () => {
    setBusy(true);
    await onReject(reason.trim());
    setBusy(false);
    setReason('');
  };
  return (
    <Dialog
      open={open}
      onOpenChange={(next) => !next && onClose()}
      title={`Reject ${counted(count, 'item')}?`}
      description="The values are erased here. Nothing changes at the source."
      footer={
        <>
          <Button onClick={onClose}>Keep</Button>
          <Button
            variant="danger"
            loading={busy}
            disabledReason={reason.trim() === '' ? 'Enter a reason first' : undefined}
            onClick={() => void submit()}
          >
            Reject
          </Button>
        </>
      }
    >
      <Field label="Reason" required hint="Recorded in the critical audit log.">
        <Input value={reason} maxLength={500} placeholder="Not used any more" onChange={(event) => setReason(event.target.value)} />
      </Field>
    </Dialog>
  );
}
