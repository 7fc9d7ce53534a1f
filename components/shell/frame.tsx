'use client';

import { type ReactNode, useEffect } from 'react';
import { forgetDrafts } from '#components/trpc/forget-drafts.ts';
import { useScope } from '#components/trpc/provider.tsx';
import { AppShell, type AppShellProps } from './app-shell.tsx';
import { useLastSpace } from './last-space.ts';
import { forgetRecents } from './recents.ts';
import { SubscriptionBar } from './subscription-bar.tsx';

/** The shell with what talks to the server: signing out. */
export function Frame({
  children,
  lastSpace,
  ...props
}: Omit<AppShellProps, 'onSignOut' | 'children' | 'banner'> & {
  current: { status: string };
  lastSpace: AppShellProps['space'];
  children: ReactNode;
}) {
  const space = useLastSpace(props.space, props.partitioned ?? true, lastSpace);
  const { csrf, person } = useScope();
  // Somebody else's session ended in this tab without a sign-out: what they typed is not ours to find.
  useEffect(() => forgetDrafts(person), [person]);
  const signOut = async () => {
    await fetch('/auth/logout', { method: 'POST', headers: { 'content-type': 'application/json', 'x-csrf-token': csrf }, body: '{}' });
    forgetRecents();
    forgetDrafts();
    // A full load: nothing of the session may stay in memory.
    window.location.assign('/signin');
  };
  return (
    <AppShell {...props} space={space} onSignOut={() => void signOut()} banner={<SubscriptionBar status={props.current.status} />}>
      {children}
    </AppShell>
  );
}
