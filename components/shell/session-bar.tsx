'use client';

import { LogIn, UserX } from 'lucide-react';
import { useEnded } from '#components/trpc/session-link.ts';
import { textLink } from '#components/ui/layout.tsx';
import { StatusBar } from './status-bar.tsx';

/** Stands over the page once its session or its membership has ended. The page stays, so that nothing typed is lost; signing in comes back to it. */
export function SessionBar() {
  const ended = useEnded();
  return (
    <StatusBar icon={ended === 'membership' ? UserX : LogIn}>
      {ended === undefined ? null : ended === 'session' ? (
        <>
          You’re signed out. Sign in again to save changes. {/* A full load: what the old session showed must not stay in memory. */}
          <a href={`/signin?next=${encodeURIComponent(window.location.pathname + window.location.search)}`} className={textLink}>
            Sign in
          </a>
        </>
      ) : (
        <>
          You’re no longer a member of this workspace. Changes won’t be saved. {/* Likewise. */}
          <a href="/" className={textLink}>
            Open another workspace
          </a>
        </>
      )}
    </StatusBar>
  );
}
