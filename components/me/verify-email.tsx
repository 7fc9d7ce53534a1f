'use client';

import { useMutation } from '@tanstack/react-query';
import { Mail } from 'lucide-react';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { usePersonCall } from './person-calls.ts';

/** For an account made before this installation could send mail: the mailed link that signs in is the one that proves the address. */
export function VerifyEmail({ email }: { email: string }) {
  const call = usePersonCall();
  const send = useMutation({ mutationFn: () => call('POST', '/auth/magic/start', { email }) });
  return (
    <>
      <Callout
        tone="warn"
        title="Verify your email address"
        actions={
          <Button size="sm" icon={<Mail />} loading={send.isPending} onClick={() => send.mutate()}>
            {send.isSuccess ? 'Resend link' : 'Send link'}
          </Button>
        }
      >
        {send.isSuccess
          ? `We sent a link to ${email}. Open it in this browser to verify the address.`
          : 'We send password resets and notices about your keys to this address.'}
      </Callout>
      <MutationError error={send.error} />
    </>
  );
}
