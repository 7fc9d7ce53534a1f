'use client';

import { type FormEvent, useState } from 'react';
import { Button } from '#components/ui/button.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { MailedCode } from './mailed-code.tsx';
import type { Registration } from './use-passkey-registration.ts';

/** The two questions on the way to a new passkey: the mailed code of an account without a factor, and its name. */
export function AddPasskey({ registration }: { registration: Registration }) {
  const { stage } = registration;
  const [coded, setCoded] = useState(false);
  if (stage === 'code' && !coded) setCoded(true);
  if (stage === 'idle' && coded) setCoded(false);
  return (
    <>
      <MailedCode
        open={stage === 'code' || (stage === 'creating' && coded)}
        title="Add a passkey"
        busy={stage === 'creating'}
        problem={registration.problem}
        onCode={(code) => void registration.create({ code })}
        onResend={() => void registration.resend()}
        onClose={registration.cancel}
      />
      <NameDialog open={stage === 'name' || stage === 'saving'} registration={registration} />
    </>
  );
}

type StepProps = { open: boolean; registration: Registration };

function NameDialog({ open, registration }: StepProps) {
  const { problem, save, cancel, stage, suggestedName } = registration;
  const [name, setName] = useState('');
  const [wasOpen, setWasOpen] = useState(false);
  if (open !== wasOpen) {
    setWasOpen(open);
    if (open) setName(suggestedName());
  }
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() !== '') void save(name.trim());
  };
  const form = 'name-passkey';
  return (
    <Dialog
      open={open}
      onOpenChange={(next) => !next && cancel()}
      dismissible={false}
      title="Name your passkey"
      description="So that you can tell it from others later."
      footer={
        <>
          <Button onClick={cancel}>Cancel</Button>
          <Button
            type="submit"
            form={form}
            variant="primary"
            loading={stage === 'saving'}
            disabledReason={name.trim() === '' ? 'Enter a name first' : undefined}
          >
            Save passkey
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit}>
        <Field label="Name" error={problem}>
          <Input value={name} maxLength={60} onChange={(event) => setName(event.target.value)} />
        </Field>
      </form>
    </Dialog>
  );
}
