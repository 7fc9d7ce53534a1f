'use client';

import { useEffect } from 'react';

/** Asks before the tab is closed or reloaded while something is unsaved, and tells the sheet or dialog that holds the form. */
export function useUnsavedGuard(dirty: boolean, onDirty?: (dirty: boolean) => void): void {
  useEffect(() => onDirty?.(dirty), [dirty, onDirty]);
  useEffect(() => {
    if (!dirty) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, [dirty]);
}
