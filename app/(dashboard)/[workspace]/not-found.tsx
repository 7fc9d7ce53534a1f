import { cookies, headers } from 'next/headers';
import NotFoundAnywhere from '#app/not-found.tsx';
import { MissingPage } from '#components/shell/missing-page.tsx';
import { readSpace, SPACE_COOKIE } from '#components/shell/space-cookie.ts';
import { frameOf } from '#server/trpc/frame.ts';
import { DashboardFrame } from '../frame.tsx';

/** An address under a workspace that is neither of its spaces: inside the frame for its members, and for others as if there were no workspace. */
export default async function NotFound() {
  const [head, jar] = await Promise.all([headers(), cookies()]);
  const slug = head.get('x-page')?.split(/[/?]/)[1];
  const frame = await frameOf(head);
  if (!slug || !frame?.workspaces.some((workspace) => workspace.slug === slug)) return <NotFoundAnywhere />;
  return (
    <DashboardFrame slug={slug} space={readSpace(jar.get(SPACE_COOKIE)?.value)} partitioned={false}>
      <MissingPage />
    </DashboardFrame>
  );
}
