'use client';

import { type ReactNode, useState } from 'react';
import { CodeInput } from '#components/auth/code-input.tsx';
import { MailboxHint } from '#components/auth/mailbox-hint.tsx';
import { Button } from '#components/ui/button.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { Field } from '#components/ui/field.tsx';

export type MailedCodeProps = {
  open: boolean;
  title: string;
  busy: boolean;
  problem: string | undefined;
  confirmLabel?: string;
  danger?: boolean;
  onCode: (code: string) => void;
  onResend: () => void;
  onClose: () => void;
  /** What entering the code does, where that is more than going on. */
  children?: ReactNode;
};

/** Asks for the 6-digit code of an email that was just sent. */
export function MailedCode({
  open,
  title,
  busy,
  problem,
  confirmLabel = 'Continue',
  danger,
  onCode,
  onResend,
  onClose,
  children,
}: MailedCodeProps) {
  const [code, setCode] = useState('');
  const [sentAgain, setSentAgain] = useState(false);
  const [wasOpen, setWasOpen] = useState(open);
  if (open !== wasOpen) {
    setWasOpen(open);
    setCode('');
    setSentAgain(false);
  }
  const resend = () => {
    setSentAgain(true);
    onResend();
  };
  return (
    <Dialog
      open={open}
      onOpenChange={(next) => !next && onClose()}
      title={title}
      description="We emailed you a 6-digit code. It expires in 10 minutes."
      footer={
        <>
          <Button variant="ghost" className="mr-auto" disabled={busy} onClick={resend}>
            {sentAgain ? 'Email sent' : 'Resend email'}
          </Button>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant={danger ? 'danger' : 'primary'}
            loading={busy}
            disabledReason={code.length === 6 ? undefined : 'Enter the 6-digit code first'}
            onClick={() => onCode(code)}
          >
            {confirmLabel}
          </Button>
        </>
      }
    >
      {children}
      <Field label="Code from the email" error={problem}>
        <CodeInput
          value={code}
          problem={problem}
          disabled={busy}
          onChange={setCode}
          // What cannot be undone waits for its button.
          onComplete={(complete) => !danger && onCode(complete)}
        />
      </Field>
      <MailboxHint />
    </Dialog>
  );
}
