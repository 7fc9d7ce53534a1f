import type { Metadata } from 'next';
import { isOwnPath } from '#components/auth/call.ts';
import { SecurityView } from '#components/me/security-view.tsx';

export const metadata: Metadata = { title: 'Security' };

export default async function SecurityPage({ searchParams }: { searchParams: Promise<{ next?: string | string[] }> }) {
  const { next } = await searchParams;
  return <SecurityView next={typeof next === 'string' && isOwnPath(next) ? next : null} />;
}
