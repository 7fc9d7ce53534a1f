'use client';

import { WifiOff } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { StatusBar } from './status-bar.tsx';

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
  return <StatusBar icon={WifiOff}>{!online && 'You’re offline. Data may be out of date, and changes won’t be saved.'}</StatusBar>;
}
