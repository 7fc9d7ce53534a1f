'use client';

import { useSyncExternalStore } from 'react';
import { cn } from './cn.ts';
import { useWorkingKeys } from './hotkeys.ts';

/** Keys as the hotkey grammar writes them: `mod+k`, `g r`, `?`. `mod` shows as the platform's own sign. Nothing for keys the person switched off. */
export function Kbd({ keys: given, className, 'aria-hidden': hidden }: { keys: string; className?: string; 'aria-hidden'?: boolean }) {
  const mac = useIsMac();
  const keys = useWorkingKeys(given);
  if (keys === undefined) return null;
  return (
    <span aria-hidden={hidden} className={cn('inline-flex items-center gap-0.5', className)}>
      {keys.split(' ').map((step, index) => (
        <span key={`${step}-${index.toString()}`} className="inline-flex items-center gap-0.5">
          {index > 0 && <span className="px-0.5 text-2xs text-ink-3">then</span>}
          {step.split('+').map((key) => (
            <kbd
              key={key}
              className="inline-flex h-4.5 min-w-4.5 items-center justify-center rounded-xs border border-line-strong bg-subtle px-1 font-sans text-2xs text-ink-2 leading-none"
            >
              {nameOf(key, mac)}
            </kbd>
          ))}
        </span>
      ))}
    </span>
  );
}

const NAMES: Record<string, string> = {
  enter: '↵',
  escape: 'Esc',
  shift: '⇧',
  arrowup: '↑',
  arrowdown: '↓',
  space: 'Space',
  tab: 'Tab',
  ctrl: 'Ctrl',
};

function nameOf(key: string, mac: boolean): string {
  if (key === 'mod') return mac ? '⌘' : 'Ctrl';
  return NAMES[key] ?? (key.length === 1 ? key.toUpperCase() : key);
}

/** False on the server and in the first render, so that both agree. */
function useIsMac(): boolean {
  return useSyncExternalStore(
    () => () => undefined,
    () => /Mac|iPhone|iPad/.test(navigator.userAgent),
    () => false,
  );
}
