'use client';

import { useSyncExternalStore } from 'react';

const listeners = new Set<() => void>();

/**
 * A small preference of this browser by name; `fallback` on the server and where storage is switched off. Never for anything private.
 * All components that read a name see a change at once, other tabs too.
 */
export function useStored(name: string, fallback: string): [string, (value: string) => void] {
  const value = useSyncExternalStore(
    subscribe,
    () => read(name) ?? fallback,
    () => fallback,
  );
  const set = (next: string) => {
    try {
      localStorage.setItem(name, next);
    } catch {
      // Private windows of some browsers refuse: the choice then holds for nothing, which is what such a window is for.
    }
    for (const notify of listeners) notify();
  };
  return [value, set];
}

function subscribe(notify: () => void): () => void {
  listeners.add(notify);
  window.addEventListener('storage', notify);
  return () => {
    listeners.delete(notify);
    window.removeEventListener('storage', notify);
  };
}

function read(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}
