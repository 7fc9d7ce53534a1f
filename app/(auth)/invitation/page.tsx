import type { Metadata } from 'next';
import { headers } from 'next/headers';
import { redirect } from 'next/navigation';
import { AuthLayout } from '#components/shell/auth-layout.tsx';
import { DeadInvitation, InvitationSignIn, InvitedAs, WrongAccount } from '#components/team/invitation-notes.tsx';
import { JoinForm, JoinWithNewAccount } from '#components/team/join-forms.tsx';
import { invitationPage } from '#server/auth/invitation.ts';

export const metadata: Metadata = { title: 'Invitation', referrer: 'no-referrer' };

/** Opening the link uses nothing up: only the button does. */
export default async function InvitationPage({ searchParams }: { searchParams: Promise<{ token?: string | string[] }> }) {
  const { token } = await searchParams;
  if (typeof token !== 'string') redirect('/');
  const { invitation, signed_in, problem } = await invitationPage(await headers(), token);
  if (invitation?.state !== 'open') return <DeadInvitation state={invitation?.state ?? null} problem={problem ?? null} />;
  const { email, workspace, role, invited_by, has_account } = invitation;
  return (
    <AuthLayout
      title={<span className="[overflow-wrap:anywhere]">Join {workspace.name}</span>}
      description={<InvitedAs invited_by={invited_by} email={email} role={role} />}
    >
      {signed_in ? (
        signed_in.email === email ? (
          <JoinForm token={token} csrf={signed_in.csrf} workspace={workspace.name} />
        ) : (
          <WrongAccount email={email} signedIn={signed_in} />
        )
      ) : has_account ? (
        <InvitationSignIn email={email} token={token} />
      ) : (
        <JoinWithNewAccount token={token} />
      )}
    </AuthLayout>
  );
}
