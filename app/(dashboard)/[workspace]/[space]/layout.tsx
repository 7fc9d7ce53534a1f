import { notFound } from 'next/navigation';
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
      {children}
    </DashboardFrame>
  );
}
