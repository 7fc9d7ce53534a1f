'use client';

import { LogIn } from 'lucide-react';
import { useSessionEnded } from '#components/trpc/session-link.ts';
import { textLink } from '#components/ui/layout.tsx';
import { StatusBar } from './status-bar.tsx';

/** Stands over the page once its session has ended. The page stays, so that nothing typed is lost; signing in comes back to it. */
export function SessionBar() {
  const ended = useSessionEnded();
  return (
    <StatusBar icon={LogIn}>
      {ended && (
        <>
          You’re signed out. Sign in again to save changes. {/* A full load: what the old session showed must not stay in memory. */}
          <a href={`/signin?next=${encodeURIComponent(window.location.pathname + window.location.search)}`} className={textLink}>
            Sign in
          </a>
        </>
      )}
    </StatusBar>
  );
}
