import { cookies, headers } from 'next/headers';
import { notFound, redirect } from 'next/navigation';
import { readSpace, SPACE_COOKIE } from '#components/shell/space-cookie.ts';
import { frameOf } from '#server/trpc/frame.ts';

/** A workspace by its name alone: its Home, in the space the person was in last. */
export default async function WorkspacePage({ params }: { params: Promise<{ workspace: string }> }) {
  const [{ workspace }, frame, jar] = await Promise.all([params, frameOf(await headers()), cookies()]);
  if (!frame?.workspaces.some(({ slug }) => slug === workspace)) notFound();
  redirect(`/${workspace}/${readSpace(jar.get(SPACE_COOKIE)?.value)}`);
}
