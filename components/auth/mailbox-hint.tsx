'use client';

import { useEffect, useState } from 'react';
import { Callout } from '#components/ui/callout.tsx';
import { Link } from '#components/ui/link.tsx';
import { callAuth } from './call.ts';

/** On an installation that sends no mail: where its mails are to be read. Shows nothing anywhere else. */
export function MailboxHint() {
  const [local, setLocal] = useState(false);
  useEffect(() => {
    let gone = false;
    void callAuth('/auth/mailbox').then((answer) => {
      if (!gone) setLocal(answer.ok);
    });
    return () => {
      gone = true;
    };
  }, []);
  if (!local) return null;
  return (
    <Callout title="This installation doesn’t send email">
      Read its emails in the{' '}
      <Link href="/mailbox" className="text-accent-ink underline">
        local mailbox
      </Link>{' '}
      or in the server log. Set SMTP_URL to send them.
    </Callout>
  );
}
