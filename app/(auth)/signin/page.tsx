import type { Metadata } from 'next';
import { headers } from 'next/headers';
import { redirect } from 'next/navigation';
import { isOwnPath, SIGNED_IN_AGAIN } from '#components/auth/call.ts';
import { signInProblem } from '#components/auth/sign-in-problem.ts';
import { SignInView } from '#components/auth/sign-in-view.tsx';
import { personOf } from '#server/auth/person.ts';

export const metadata: Metadata = { title: 'Sign in' };

type Query = Promise<Partial<Record<'next' | 'email' | 'ended' | 'sso', string | string[]>>>;

export default async function SignInPage({ searchParams }: { searchParams: Query }) {
  const { next, email, ended, sso } = await searchParams;
  const to = typeof next === 'string' && isOwnPath(next) ? next : null;
  // Who comes to sign in again is signed in still.
  const again = to === SIGNED_IN_AGAIN;
  if (!again && (await personOf(await headers()))) redirect(to ?? '/');
  return <SignInView again={again} next={to} email={typeof email === 'string' ? email : ''} problem={signInProblem({ ended, sso })} />;
}
