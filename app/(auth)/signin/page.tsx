import type { Metadata } from 'next';
import { headers } from 'next/headers';
import { redirect } from 'next/navigation';
import { isOwnPath } from '#components/auth/call.ts';
import { SignInForm } from '#components/auth/sign-in-form.tsx';
import { AuthLayout } from '#components/shell/auth-layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { personOf } from '#server/auth/person.ts';

export const metadata: Metadata = { title: 'Sign in' };

type Query = Promise<{ next?: string | string[]; email?: string | string[] }>;

export default async function SignInPage({ searchParams }: { searchParams: Query }) {
  const { next, email } = await searchParams;
  const to = typeof next === 'string' && isOwnPath(next) ? next : null;
  if (await personOf(await headers())) redirect(to ?? '/');
  return (
    <AuthLayout
      title="Sign in"
      description="Welcome back."
      footer={
        <>
          No account yet?{' '}
          <Link href="/signup" className="text-accent-ink underline underline-offset-2">
            Sign up
          </Link>
        </>
      }
    >
      <SignInForm next={to} email={typeof email === 'string' ? email : ''} />
    </AuthLayout>
  );
}
