'use client';

import type { ReactNode } from 'react';
import { useScope } from '#components/trpc/provider.tsx';
import { AppShell, type AppShellProps } from './app-shell.tsx';

/** The shell with its one action that talks to the server: signing out. */
export function Frame({ children, ...props }: Omit<AppShellProps, 'onSignOut' | 'children'> & { children: ReactNode }) {
  const { csrf } = useScope();
  const signOut = async () => {
    await fetch('/auth/logout', { method: 'POST', headers: { 'content-type': 'application/json', 'x-csrf-token': csrf }, body: '{}' });
    // A full load: nothing of the session may stay in memory.
    window.location.assign('/signin');
  };
  return (
    <AppShell {...props} onSignOut={() => void signOut()} createWorkspaceHref="/onboarding?new=1">
      {children}
    </AppShell>
  );
}
