'use client';

import { usePathname } from 'next/navigation';
import { useEffect, useRef, useState } from 'react';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { type Challenge, settleChallenge, useChallenge } from './challenges.ts';
import { ReasonDialog } from './reason-dialog.tsx';
import { SignInDialog } from './sign-in-dialog.tsx';
import { VerifyDialog } from './verify-dialog.tsx';

/** The one dialog in which a person proves who they are, whichever page or call asked (interface rule 22 §5.4). One challenge at a time. */
export function StepUpDialog() {
  const challenge = useChallenge();
  // The dialog fades out with its words.
  const [last, setLast] = useState<Challenge>();
  if (challenge && challenge !== last) setLast(challenge);
  useCancelledBy(challenge);
  if (!last) return null;
  const cancel = () => challenge && settleChallenge(challenge, null);
  const open = challenge?.key === last.key;
  if (last.kind === 'enroll') return <EnrollDialog open={challenge?.kind === 'enroll'} message={last.message} onClose={cancel} />;
  if (last.kind === 'verify') return <VerifyDialog key={last.key} open={open} challenge={last} onCancel={cancel} />;
  const Ask = last.kind === 'reason' ? ReasonDialog : SignInDialog;
  return <Ask key={last.key} open={open} challenge={last} onCancel={cancel} />;
}

/** Leaving the page gives the question up. So does Escape, and it stops here: the form behind has not been asked to close. */
function useCancelledBy(challenge: Challenge | undefined): void {
  const pathname = usePathname();
  const asked = useRef(pathname);
  useEffect(() => {
    if (pathname !== asked.current && challenge) settleChallenge(challenge, null);
    asked.current = pathname;
  }, [pathname, challenge]);
  useEffect(() => {
    if (!challenge) return;
    const giveUp = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.isComposing) return;
      event.stopImmediatePropagation();
      event.preventDefault();
      settleChallenge(challenge, null);
    };
    window.addEventListener('keydown', giveUp, true);
    return () => window.removeEventListener('keydown', giveUp, true);
  }, [challenge]);
}

function EnrollDialog({ open, message, onClose }: { open: boolean; message: string; onClose: () => void }) {
  const here = usePathname();
  return (
    <Dialog
      open={open}
      onOpenChange={(next) => !next && onClose()}
      title="Set up a second factor first"
      description={message}
      footer={
        <>
          <Button onClick={onClose}>Not now</Button>
          <LinkButton variant="primary" href={`/me/security?next=${encodeURIComponent(here)}`}>
            Set up in Security
          </LinkButton>
        </>
      }
    >
      <p className="text-ink-2">
        A passkey takes a few seconds with your fingerprint, face or screen lock. An authenticator app works too. Afterwards you come back
        to this page.
      </p>
    </Dialog>
  );
}
