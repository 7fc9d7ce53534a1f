import type { Metadata } from 'next';
import { MailboxHint } from '#components/auth/mailbox-hint.tsx';
import { AuthLayout } from '#components/shell/auth-layout.tsx';
import { LinkButton } from '#components/ui/button.tsx';

export const metadata: Metadata = { title: 'Check your email' };

export default function CheckMailPage() {
  return (
    <AuthLayout title="Check your email" description="We sent you a link. Open it in this browser to continue.">
      <div className="flex flex-col gap-5">
        <MailboxHint />
        <LinkButton href="/signin" size="lg">
          Back to sign in
        </LinkButton>
      </div>
    </AuthLayout>
  );
}
