import type { Metadata } from 'next';
import { headers } from 'next/headers';
import { redirect } from 'next/navigation';
import { SIGNED_IN_AGAIN } from '#components/auth/call.ts';
import { AuthLayout } from '#components/shell/auth-layout.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { personOf } from '#server/auth/person.ts';

export const metadata: Metadata = { title: 'Signed in' };

/** The end of a tab in which somebody signed in again for another one. */
export default async function SignedInPage() {
  if (!(await personOf(await headers()))) redirect(`/signin?next=${encodeURIComponent(SIGNED_IN_AGAIN)}`);
  return (
    <AuthLayout title="You’re signed in" description="Go back to the tab that you came from and press Try again. You can close this one.">
      <LinkButton href="/" size="lg" className="w-full">
        Open the dashboard here
      </LinkButton>
    </AuthLayout>
  );
}
