'use client';

import { useEffect, useState } from 'react';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { callAuth, go } from './call.ts';
import { type PendingLogin, SecondFactorForm } from './second-factor-form.tsx';

/** Finishes the sign-in that this browser began, and goes on to where the person wanted to be. */
export function SecondFactor({ next }: { next: string | null }) {
  const [pending, setPending] = useState<PendingLogin>();
  const [problem, setProblem] = useState<string>();
  const toSignIn = (ended: boolean) => {
    const query = new URLSearchParams({ ...(next ? { next } : {}), ...(ended ? { ended: '1' } : {}) }).toString();
    go(query ? `/signin?${query}` : '/signin');
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked once, as the page opens.
  useEffect(() => {
    let gone = false;
    void callAuth<PendingLogin>('/auth/login/mfa').then((answer) => {
      if (gone) return;
      if (answer.ok) setPending(answer.data);
      else if (answer.refusal.type === 'not_authenticated') toSignIn(true);
      else setProblem(answer.refusal.message);
    });
    return () => {
      gone = true;
    };
  }, []);
  if (problem)
    return (
      <div className="flex flex-col items-start gap-4">
        <Callout tone="bad" title={problem} />
        <Button onClick={() => window.location.reload()}>Try again</Button>
      </div>
    );
  if (!pending) return <Skeleton lines={4} label="Loading your sign-in" />;
  return <SecondFactorForm pending={pending} onSignedIn={({ redirect_to }) => go(next ?? redirect_to)} onBack={toSignIn} />;
}
