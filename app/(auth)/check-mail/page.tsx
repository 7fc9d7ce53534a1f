import type { Metadata } from 'next';
import { MailboxHint } from '#components/auth/mailbox-hint.tsx';
import { AuthLayout } from '#components/shell/auth-layout.tsx';
import { LinkButton } from '#components/ui/button.tsx';

export const metadata: Metadata = { title: 'Check your mail' };

export default function CheckMailPage() {
  return (
    <AuthLayout title="Check your mail" description="A link is on its way. Open it in this browser to go on.">
      <div className="flex flex-col gap-5">
        <MailboxHint />
        <LinkButton href="/signin" size="lg">
          Back to sign-in
        </LinkButton>
      </div>
    </AuthLayout>
  );
}
