import type { Metadata } from 'next';
import { headers } from 'next/headers';
import { redirect } from 'next/navigation';
import { SignUpForm } from '#components/auth/sign-up-form.tsx';
import { AuthLayout } from '#components/shell/auth-layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { personOf } from '#server/auth/person.ts';

export const metadata: Metadata = { title: 'Sign up' };

export default async function SignUpPage() {
  if (await personOf(await headers())) redirect('/');
  return (
    <AuthLayout
      title="Create your workspace"
      description="You start in Test with a working route, a sample secret and an API key."
      footer={
        <>
          Have an account?{' '}
          <Link href="/signin" className="text-accent-ink underline underline-offset-2">
            Sign in
          </Link>
        </>
      }
    >
      <SignUpForm />
    </AuthLayout>
  );
}
