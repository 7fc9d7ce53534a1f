import { notFound } from 'next/navigation';
import { NuqsAdapter } from 'nuqs/adapters/next/app';
import type { ReactNode } from 'react';
import { DashboardFrame } from '../../frame.tsx';

export default async function SpaceLayout({
  children,
  params,
}: {
  children: ReactNode;
  params: Promise<{ workspace: string; space: string }>;
}) {
  const { workspace, space } = await params;
  if (space !== 'live' && space !== 'test') notFound();
  return (
    <DashboardFrame slug={workspace} space={space} partitioned>
      <NuqsAdapter>{children}</NuqsAdapter>
    </DashboardFrame>
  );
}
