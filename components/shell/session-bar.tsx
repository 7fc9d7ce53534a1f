'use client';

import { LogIn } from 'lucide-react';
import { useSessionEnded } from '#components/trpc/session-link.ts';
import { textLink } from '#components/ui/layout.tsx';

/** Stands over the page once its session has ended. The page stays, so that nothing typed is lost; signing in comes back to it. */
export function SessionBar() {
  const ended = useSessionEnded();
  return (
    <div role="status">
      {ended && (
        <p className="flex flex-wrap items-center justify-center gap-2 border-warn-line border-b bg-warn-soft px-4 py-1.5 text-warn-ink text-xs">
          <LogIn aria-hidden className="size-3.5" /> You are signed out. Nothing is saved until you sign in again.
          {/* A full load: what the old session showed must not stay in memory. */}
          <a href={`/signin?next=${encodeURIComponent(window.location.pathname + window.location.search)}`} className={textLink}>
            Sign in
          </a>
        </p>
      )}
    </div>
  );
}
