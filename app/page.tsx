import { headers } from 'next/headers';
import { redirect } from 'next/navigation';
import { frameOf } from '#server/trpc/frame.ts';

/** The front door of the dashboard: to the workspace, to its making, or to sign-in. */
export default async function Front() {
  const frame = await frameOf(await headers());
  if (!frame) redirect('/signin');
  redirect(frame.active ? `/${frame.active}/test` : '/onboarding');
}
