'use client';

import { WifiOff } from 'lucide-react';
import { useSyncExternalStore } from 'react';

/** Stands over the page while the browser has no network: what is shown may be old, and changes will fail. */
export function OfflineBar() {
  const online = useSyncExternalStore(
    (notify) => {
      window.addEventListener('online', notify);
      window.addEventListener('offline', notify);
      return () => {
        window.removeEventListener('online', notify);
        window.removeEventListener('offline', notify);
      };
    },
    () => navigator.onLine,
    () => true,
  );
  return (
    <div role="status">
      {!online && (
        <p className="flex items-center justify-center gap-2 border-warn-line border-b bg-warn-soft px-4 py-1.5 text-warn-ink text-xs">
          <WifiOff aria-hidden className="size-3.5" /> You are offline. What you see may be out of date, and changes will not be saved.
        </p>
      )}
    </div>
  );
}
