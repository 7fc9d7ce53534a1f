import type { Metadata } from 'next';
import { headers } from 'next/headers';
import { isOwnPath } from '#components/auth/call.ts';
import { SecurityView } from '#components/me/security-view.tsx';
import { FactorRequired } from '#components/team/factor-required.tsx';
import { frameOf } from '#server/trpc/frame.ts';

export const metadata: Metadata = { title: 'Security' };

type Query = Promise<{ next?: string | string[]; required?: string | string[] }>;

export default async function SecurityPage({ searchParams }: { searchParams: Query }) {
  const { next, required } = await searchParams;
  const frame = typeof required === 'string' ? await frameOf(await headers()) : null;
  const workspace = frame?.workspaces.find(({ slug }) => slug === required && frame.needing_factor.includes(slug));
  return (
    <>
      {workspace && <FactorRequired workspace={workspace.name} href={`/${workspace.slug}`} />}
      <SecurityView next={typeof next === 'string' && isOwnPath(next) ? next : null} />
    </>
  );
}
