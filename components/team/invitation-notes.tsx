'use client';

import { useState } from 'react';
import { callAuth } from '#components/auth/call.ts';
import { AuthLayout } from '#components/shell/auth-layout.tsx';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { capitalize } from '#components/ui/capitalize.ts';
import type { RefusalView } from '#components/ui/refusal.ts';
import type { MemberRole } from '#server/domain/roles/matrix.shared.ts';
import { ROLE_TEXTS } from '#server/domain/team/rank.shared.ts';

const DEAD = {
  expired: 'It has expired. Ask an Owner or Admin of the workspace to send it again.',
  used: 'It was already used. If that was you, sign in to open the workspace.',
  withdrawn: 'It was withdrawn. Ask an Owner or Admin of the workspace for a new one.',
};

/** A link that no longer works, or never did. */
export function DeadInvitation({ state, problem }: { state: 'open' | 'expired' | 'used' | 'withdrawn' | null; problem: string | null }) {
  const text =
    state && state !== 'open'
      ? DEAD[state]
      : 'A newer email may have replaced it. Use the link in the latest one, or ask for a new invitation.';
  return (
    <AuthLayout title="This invitation doesn’t work">
      <div className="flex flex-col gap-5">
        <Callout tone="warn" title={problem ?? text} />
        <LinkButton href="/signin" variant="primary" size="lg">
          Sign in
        </LinkButton>
      </div>
    </AuthLayout>
  );
}

/** Who invited whom, and as what. */
export const InvitedAs = ({ invited_by, email, role }: { invited_by: string; email: string; role: MemberRole }) => (
  <span className="[overflow-wrap:anywhere]">
    {invited_by} invited {email} as {capitalize(role)}. {ROLE_TEXTS[role]}
  </span>
);

/** Somebody else is signed in in this browser. */
export function WrongAccount({ email, signedIn }: { email: string; signedIn: { email: string; csrf: string } }) {
  const [refusal, setRefusal] = useState<RefusalView>();
  const [busy, setBusy] = useState(false);
  const signOut = async () => {
    setBusy(true);
    const answer = await callAuth('/auth/logout', {}, signedIn.csrf);
    if (answer.ok) return window.location.reload();
    setBusy(false);
    setRefusal(answer.refusal);
  };
  return (
    <div className="flex flex-col gap-5">
      <Callout tone="warn" title={`You’re signed in as ${signedIn.email}`}>
        This invitation is for {email}. Sign out here and continue with that address.
      </Callout>
      <Button variant="primary" size="lg" loading={busy} onClick={() => void signOut()} className="w-full">
        Sign out and continue
      </Button>
      <LinkButton href="/" size="lg">
        Stay signed in
      </LinkButton>
      {refusal && <Callout tone="bad" title={refusal.message} requestId={refusal.request_id} />}
    </div>
  );
}

/** The address has an account: the link alone signs nobody in. */
export function InvitationSignIn({ email, token }: { email: string; token: string }) {
  const next = `/invitation?token=${encodeURIComponent(token)}`;
  return (
    <LinkButton
      href={`/signin?${new URLSearchParams({ next, email }).toString()}`}
      variant="primary"
      size="lg"
      className="w-full justify-center"
    >
      Sign in to join
    </LinkButton>
  );
}
