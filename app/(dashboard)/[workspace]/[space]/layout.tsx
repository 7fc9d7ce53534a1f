import type { Metadata } from 'next';
import { cookies } from 'next/headers';
import { notFound } from 'next/navigation';
import { NuqsAdapter } from 'nuqs/adapters/next/app';
import type { ReactNode } from 'react';
import { readSpace, SPACE_COOKIE } from '#components/shell/space-cookie.ts';
import { DashboardFrame } from '../../frame.tsx';

type SpaceParams = { params: Promise<{ workspace: string; space: string }> };

/** An address that names neither space has no page. Told here and not by the layout, the 404 stands inside the frame. */
export async function generateMetadata({ params }: SpaceParams): Promise<Metadata> {
  const { space } = await params;
  if (space !== 'live' && space !== 'test') notFound();
  return {};
}

export default async function SpaceLayout({ children, params }: SpaceParams & { children: ReactNode }) {
  const [{ workspace, space }, jar] = await Promise.all([params, cookies()]);
  const known = space === 'live' || space === 'test';
  return (
    <DashboardFrame slug={workspace} space={known ? space : readSpace(jar.get(SPACE_COOKIE)?.value)} partitioned={known}>
      {!known && <title>Page not found · Sallyport</title>}
      <NuqsAdapter>{children}</NuqsAdapter>
    </DashboardFrame>
  );
}
