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
        title="Your e-mail address is not verified"
        actions={
          <Button size="sm" icon={<Mail />} loading={send.isPending} onClick={() => send.mutate()}>
            {send.isSuccess ? 'Mail it again' : 'Mail me a link'}
          </Button>
        }
      >
        {send.isSuccess
          ? `A link is on its way to ${email}. Open it in this browser: it signs you in, and the address is verified.`
          : 'Links for a forgotten password and notices about your keys go to this address, and nobody has shown yet that they arrive.'}
      </Callout>
      <MutationError error={send.error} />
    </>
  );
}
