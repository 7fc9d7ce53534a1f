import { cookies, headers } from 'next/headers';
import { redirect } from 'next/navigation';
import { readSpace, SPACE_COOKIE } from '#components/shell/space-cookie.ts';
import { frameOf } from '#server/trpc/frame.ts';

/** The front door of the dashboard: to the workspace, in the space last used, or to its making, or to sign-in. */
export default async function Front() {
  const frame = await frameOf(await headers());
  if (!frame) redirect('/signin');
  const space = readSpace((await cookies()).get(SPACE_COOKIE)?.value);
  redirect(frame.active ? `/${frame.active}/${space}` : '/onboarding');
}
