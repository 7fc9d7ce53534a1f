'use client';

import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import type { RefusalView } from '#components/ui/refusal.ts';

/** Whether the session has ended. */
export const isSignedOut = (refusal: Pick<RefusalView, 'type'> | undefined): boolean => refusal?.type === 'not_authenticated';

/** Back to this page through the door. A full load: what the old session showed must not stay in memory. */
export function SignInButton() {
  const go = () => window.location.assign(`/signin?next=${encodeURIComponent(window.location.pathname + window.location.search)}`);
  return (
    <Button size="sm" onClick={go}>
      Sign in
    </Button>
  );
}

/** In the form that was refused: the bar over the page that says the same lies behind a sheet, where nobody can reach it. */
export function SignInPanel({ refusal, kept }: { refusal: RefusalView; kept: boolean }) {
  return (
    <Callout tone="warn" title="You’re signed out, so nothing was saved" requestId={refusal.request_id} actions={<SignInButton />}>
      {kept ? 'Your draft is saved in this tab for after you sign in. Secret values aren’t saved.' : 'You’ll come back to this page.'}
    </Callout>
  );
}
