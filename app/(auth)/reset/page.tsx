import type { Metadata } from 'next';
import { redirect } from 'next/navigation';
import { ResetForm } from '#components/auth/password-forms.tsx';
import { AuthLayout } from '#components/shell/auth-layout.tsx';

export const metadata: Metadata = { title: 'Choose a new password', referrer: 'no-referrer' };

/** Opening the link uses nothing up: only the form does. */
export default async function ResetPage({ searchParams }: { searchParams: Promise<{ token?: string | string[] }> }) {
  const { token } = await searchParams;
  if (typeof token !== 'string') redirect('/forgot');
  return (
    <AuthLayout title="Choose a new password" description="This signs you out on all devices.">
      <ResetForm token={token} />
    </AuthLayout>
  );
}
