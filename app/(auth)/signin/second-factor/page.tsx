import type { Metadata } from 'next';
import { isOwnPath } from '#components/auth/call.ts';
import { SecondFactor } from '#components/auth/second-factor.tsx';
import { AuthLayout } from '#components/shell/auth-layout.tsx';

export const metadata: Metadata = { title: 'Confirm it’s you' };

export default async function SecondFactorPage({ searchParams }: { searchParams: Promise<{ next?: string | string[] }> }) {
  const { next } = await searchParams;
  return (
    <AuthLayout title="Confirm it’s you" description="Your account has a second factor.">
      <SecondFactor next={typeof next === 'string' && isOwnPath(next) ? next : null} />
    </AuthLayout>
  );
}
