import type { Metadata } from 'next';
import { ForgotForm } from '#components/auth/password-forms.tsx';
import { AuthLayout } from '#components/shell/auth-layout.tsx';
import { Link } from '#components/ui/link.tsx';

export const metadata: Metadata = { title: 'Reset password' };

export default function ForgotPage() {
  return (
    <AuthLayout
      title="Reset your password"
      description="We’ll email you a link to choose a new one."
      footer={
        <Link href="/signin" className="text-accent-ink underline underline-offset-2">
          Back to sign in
        </Link>
      }
    >
      <ForgotForm />
    </AuthLayout>
  );
}
