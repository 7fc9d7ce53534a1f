'use client';

import { useRef, useState } from 'react';
import { Button } from '#components/ui/button.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { type PlainChallenge, settleChallenge } from './challenges.ts';

type ReasonDialogProps = { open: boolean; challenge: PlainChallenge; onCancel: () => void };

/** Where the workspace wants to know why, for calls whose page has no field for it. */
export function ReasonDialog({ open, challenge, onCancel }: ReasonDialogProps) {
  const [reason, setReason] = useState('');
  const [problem, setProblem] = useState<string>();
  const input = useRef<HTMLInputElement>(null);
  const submit = () => {
    const given = reason.trim();
    if (given === '') return setProblem('Enter a reason.');
    settleChallenge(challenge, { 'x-reveal-reason': encodeURIComponent(given) });
  };
  return (
    <Dialog
      open={open}
      onOpenChange={(next) => !next && onCancel()}
      title="Give a reason"
      description={challenge.message}
      initialFocus={input}
      footer={
        <>
          <Button onClick={onCancel}>Cancel</Button>
          <Button variant="primary" onClick={submit}>
            Continue
          </Button>
        </>
      }
    >
      <Field label="Reason" required hint="Recorded in the audit log with your name." error={problem}>
        <Input
          ref={input}
          value={reason}
          maxLength={500}
          placeholder="Ticket or incident"
          onChange={(event) => {
            setReason(event.target.value);
            setProblem(undefined);
          }}
          onKeyDown={(event) => event.key === 'Enter' && !event.nativeEvent.isComposing && submit()}
        />
      </Field>
    </Dialog>
  );
}
