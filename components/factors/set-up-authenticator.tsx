'use client';

import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { CodeInput } from '#components/auth/code-input.tsx';
import { usePersonCall } from '#components/me/person-calls.ts';
import { refusalOf } from '#components/trpc/refusal.ts';
import { Button } from '#components/ui/button.tsx';
import { CopyButton } from '#components/ui/copy.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { Field } from '#components/ui/field.tsx';
import type { Setup } from './factor-text.ts';

export type SetUpAuthenticatorProps = {
  setup: Setup | undefined;
  replaces: boolean;
  onClose: () => void;
  onDone: (codes: readonly string[]) => void;
};

/** The secret as a picture and as text, then a code that proves the app has it. Nothing is active before. */
export function SetUpAuthenticator({ setup, replaces, onClose, onDone }: SetUpAuthenticatorProps) {
  const call = usePersonCall();
  const [code, setCode] = useState('');
  const verify = useMutation({
    mutationFn: (digits: string) =>
      call<{ recovery_codes?: readonly string[] }>('POST', '/auth/2fa/verify', { setup_token: setup?.setup_token, code: digits }),
    gcTime: 0,
    onSuccess: ({ recovery_codes = [] }) => {
      setCode('');
      verify.reset();
      onDone(recovery_codes);
    },
  });
  const close = () => {
    setCode('');
    verify.reset();
    onClose();
  };
  const problem = verify.error ? refusalOf(verify.error).message : undefined;
  return (
    <Dialog
      open={setup !== undefined}
      onOpenChange={(next) => !next && close()}
      title={replaces ? 'Replace your authenticator app' : 'Set up an authenticator app'}
      description={
        replaces
          ? 'Scan the code with the new app. The old one stops working when you confirm.'
          : 'Scan the code with your app, then enter the digits it shows.'
      }
      footer={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button
            variant="primary"
            loading={verify.isPending}
            disabledReason={code.length === 6 ? undefined : 'Enter the 6-digit code first'}
            onClick={() => verify.mutate(code)}
          >
            Confirm
          </Button>
        </>
      }
    >
      {setup && (
        <>
          {/* Black on white in both themes: cameras read nothing else well. */}
          <img
            src={`data:image/svg+xml,${encodeURIComponent(setup.qr_svg)}`}
            alt="QR code for your authenticator app"
            width={176}
            height={176}
            className="mx-auto rounded-lg bg-white p-2"
          />
          <div className="flex flex-col gap-1">
            <p className="text-ink-2 text-xs">Can’t scan it? Type this key into the app:</p>
            <p className="flex items-center gap-2 rounded-md border border-line-strong bg-subtle py-1 pr-1 pl-2.5">
              <code className="min-w-0 flex-1 font-mono [overflow-wrap:anywhere] text-xs">
                {setup.secret_base32.replace(/(.{4})(?=.)/g, '$1 ')}
              </code>
              <CopyButton value={setup.secret_base32} label="setup key" />
            </p>
          </div>
          <Field label="Code from the app" error={problem}>
            <CodeInput
              value={code}
              problem={problem}
              disabled={verify.isPending}
              onChange={(digits) => {
                setCode(digits);
                if (verify.isError) verify.reset();
              }}
              onComplete={(digits) => verify.mutate(digits)}
            />
          </Field>
        </>
      )}
    </Dialog>
  );
}
