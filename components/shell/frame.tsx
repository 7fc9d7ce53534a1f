'use client';

import { type ReactNode, useEffect } from 'react';
import { forgetDrafts } from '#components/trpc/forget-drafts.ts';
import { useScope } from '#components/trpc/provider.tsx';
import { lazyPart } from '#components/ui/lazy.tsx';
import { notifyFailed } from '#components/ui/toaster.tsx';
import { AppShell, type AppShellProps } from './app-shell.tsx';
import { useLastSpace } from './last-space.ts';
import { forgetRecents } from './recents.ts';
import type { Shrinking } from './retention-notice.ts';

// Most workspaces never see any of these; the server sends them drawn to those that do.
const RetentionBar = lazyPart(() => import('./retention-bar.tsx').then((module) => module.RetentionBar));
const SealedBar = lazyPart(() => import('./sealed-bar.tsx').then((module) => module.SealedBar));
const SubscriptionBar = lazyPart(() => import('./subscription-bar.tsx').then((module) => module.SubscriptionBar));

/** The shell with what talks to the server: signing out. */
export function Frame({
  children,
  lastSpace,
  shrinking,
  seal,
  ...props
}: Omit<AppShellProps, 'onSignOut' | 'children' | 'banner'> & {
  current: { status: string };
  lastSpace: AppShellProps['space'];
  /** Logs that a smaller plan is about to take, and whether this person has put the notice away. */
  shrinking: { windows: readonly Shrinking[]; hidden: boolean };
  /** Why the workspace is sealed, for Owners and Admins. */
  seal: { reason: string; error: string | null } | null;
  children: ReactNode;
}) {
  const space = useLastSpace(props.space, props.partitioned ?? true, lastSpace);
  const { csrf, person } = useScope();
  // Somebody else's session ended in this tab without a sign-out: what they typed is not ours to find.
  useEffect(() => forgetDrafts(person), [person]);
  const signOut = async () => {
    const headers = { 'content-type': 'application/json', 'x-csrf-token': csrf };
    const answer = await fetch('/auth/logout', { method: 'POST', headers, body: '{}' }).catch(() => undefined);
    // A session that has ended already is what was asked for.
    if (!answer || (!answer.ok && answer.status !== 401))
      return notifyFailed('Sign-out failed because Sallyport didn’t respond. Check your connection and try again.');
    forgetRecents();
    forgetDrafts();
    // A full load: nothing of the session may stay in memory.
    window.location.assign('/signin');
  };
  const banner = (
    <>
      {seal && <SealedBar slug={props.current.slug} initial={seal} />}
      {props.current.status !== 'active' && <SubscriptionBar status={props.current.status} />}
      {shrinking.windows.length > 0 && <RetentionBar slug={props.current.slug} {...shrinking} />}
    </>
  );
  return (
    <AppShell {...props} space={space} onSignOut={() => void signOut()} banner={banner}>
      {children}
    </AppShell>
  );
}
