import { cookies, headers } from 'next/headers';
import { redirect } from 'next/navigation';
import { startPath } from '#components/shell/page-choices.ts';
import { readSpace, SPACE_COOKIE } from '#components/shell/space-cookie.ts';
import { entrance, frameOf } from '#server/trpc/frame.ts';

/** The front door of the dashboard: to the page, space and workspace the person prefers or used last, or to the making of one, or to where one signs in or up. */
export default async function Front() {
  const frame = await frameOf(await headers());
  if (!frame) redirect(await entrance());
  const slug = frame.home ?? frame.active;
  if (!slug) redirect('/onboarding');
  const { home_space, home_page } = frame.preferences;
  const space = home_space ?? readSpace((await cookies()).get(SPACE_COOKIE)?.value);
  redirect(`/${slug}/${space}${startPath(home_page)}`);
}
