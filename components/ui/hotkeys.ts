'use client';

import { useEffect, useRef, useSyncExternalStore } from 'react';
import { capitalize } from './capitalize.ts';

export type Hotkey = {
  /** `mod+k`, `?`, `shift+x`, or a sequence: `g r`. `mod` is Cmd on a Mac and Ctrl elsewhere. */
  keys: string;
  /** What it does, for the sheet of shortcuts; without it the key is not listed. */
  label?: string;
  group?: string;
  /** Absent for keys that a focused element handles itself and that are only listed here. */
  run?: (event: KeyboardEvent) => void;
  /** Also while typing in a field: only for keys with `mod`. */
  everywhere?: boolean;
  /** Gives way to any other registration of the same key, in whichever order they mounted. For the frame. */
  fallback?: boolean;
};

const SEQUENCE_MS = 1200;
/** How long `g l` waits to see whether it becomes `g l l`. */
const LONGER_MS = 450;
const registered = new Set<Hotkey>();
const listeners = new Set<() => void>();
let listed: readonly Hotkey[] = [];

/** Active while the component is mounted. The newest registration of a key wins, so that a page may take over a key of the frame. */
export function useHotkeys(hotkeys: readonly Hotkey[]): void {
  const latest = useRef(hotkeys);
  useEffect(() => {
    latest.current = hotkeys;
  });
  const shape = hotkeys
    .map((hotkey) => `${hotkey.keys}\t${hotkey.label ?? ''}\t${hotkey.group ?? ''}\t${hotkey.everywhere ? 1 : 0}`)
    .join('\n');
  // biome-ignore lint/correctness/useExhaustiveDependencies: handlers are read through the ref; only the list of keys makes a new registration.
  useEffect(() => {
    const mine = hotkeys.map((hotkey, index) => ({
      ...hotkey,
      run: hotkey.run && ((event: KeyboardEvent) => latest.current[index]?.run?.(event)),
    }));
    for (const hotkey of mine) registered.add(hotkey);
    changed();
    return () => {
      for (const hotkey of mine) registered.delete(hotkey);
      changed();
    };
  }, [shape]);
}

/** All keys that are active now and have a label, for the sheet. */
export function useListedHotkeys(): readonly Hotkey[] {
  return useSyncExternalStore(
    (notify) => {
      listeners.add(notify);
      return () => listeners.delete(notify);
    },
    () => listed,
    () => none,
  );
}

const none: readonly Hotkey[] = [];

let singleKeys = true;

/** Shortcuts of a single key, and sequences of them, can be switched off: speech input and unsteady hands trigger them (WCAG 2.2, 2.1.4). */
export function setSingleKeys(on: boolean): void {
  if (on === singleKeys) return;
  singleKeys = on;
  changed();
}

/** Whether keys do something now: with Ctrl, Cmd or Alt always, and so do Escape and Enter, which act on what is in front. */
const works = (keys: string): boolean => singleKeys || /(?:mod|alt)\+/.test(keys) || keys === 'escape' || keys === 'enter';

/** The keys while they do something, for hints beside a control. */
export function useWorkingKeys(keys: string | undefined): string | undefined {
  const on = useSyncExternalStore(
    (notify) => {
      listeners.add(notify);
      return () => listeners.delete(notify);
    },
    () => singleKeys,
    () => true,
  );
  return keys !== undefined && (on || works(keys)) ? keys : undefined;
}

function changed(): void {
  if (typeof window !== 'undefined') {
    window.removeEventListener('keydown', onKeyDown);
    if (registered.size > 0) window.addEventListener('keydown', onKeyDown);
  }
  listed = [...registered].filter((hotkey) => hotkey.label && works(hotkey.keys));
  for (const notify of listeners) notify();
}

let pending = '';
let timer: ReturnType<typeof setTimeout> | undefined;

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || ['Shift', 'Control', 'Meta', 'Alt'].includes(event.key)) return;
  const step = stepOf(event);
  // A modal layer has the keyboard to itself: nothing behind it moves, and no second layer opens over it.
  if (layerIsOpen()) return;
  const typing = isTyping(event.target);
  const candidates = [...registered].reverse().filter((hotkey) => hotkey.run && works(hotkey.keys) && (hotkey.everywhere || !typing));
  const sequence = pending ? `${pending} ${step}` : step;
  const hit = find(candidates, sequence) ?? find(candidates, step);
  const longer = [sequence, step].find((start) => candidates.some((hotkey) => hotkey.keys.startsWith(`${start} `)));
  clearTimeout(timer);
  pending = longer ?? '';
  if (hit) event.preventDefault();
  if (!longer) {
    hit?.run?.(event);
    return;
  }
  timer = setTimeout(
    () => {
      pending = '';
      hit?.run?.(event);
    },
    hit ? LONGER_MS : SEQUENCE_MS,
  );
}

/** A select that was opened once keeps its list in the document, hidden: only what can be seen counts. */
const layerIsOpen = (): boolean =>
  [...document.querySelectorAll('[aria-modal="true"], [role="menu"], [role="listbox"]')].some((layer) =>
    layer.checkVisibility({ visibilityProperty: true }),
  );

function find(candidates: readonly Hotkey[], keys: string): Hotkey | undefined {
  const same = candidates.filter((hotkey) => hotkey.keys === keys);
  return same.find((hotkey) => !hotkey.fallback) ?? same[0];
}

/** The name of a key press in the grammar above. Shift is written only for letters and named keys: `?` already needs it. */
export function stepOf(event: Pick<KeyboardEvent, 'key' | 'metaKey' | 'ctrlKey' | 'altKey' | 'shiftKey'>): string {
  const key = event.key.toLowerCase();
  const symbol = event.key.length === 1 && !/[a-z]/i.test(event.key);
  return [event.metaKey || event.ctrlKey ? 'mod' : '', event.altKey ? 'alt' : '', event.shiftKey && !symbol ? 'shift' : '', key]
    .filter(Boolean)
    .join('+');
}

/**
 * The same keys as `aria-keyshortcuts` writes them: `Control+Enter Meta+Enter`. Undefined for a sequence, which that attribute cannot say
 * (a space there separates alternatives).
 */
export function ariaKeys(keys: string): string | undefined {
  if (keys.includes(' ')) return undefined;
  const [last = '', ...held] = keys.split('+').reverse();
  const spelled = (mod: string) =>
    [...held.reverse().map((one) => (one === 'mod' ? mod : capitalize(one))), last.length > 1 ? capitalize(last) : last.toUpperCase()].join(
      '+',
    );
  return held.includes('mod') ? `${spelled('Control')} ${spelled('Meta')}` : spelled('');
}

/** Whether a key belongs to the element that has focus and not to the page. */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return (
    target.isContentEditable ||
    target.matches('input:not([type="checkbox"], [type="radio"]), textarea, select, [role="combobox"], [role="listbox"]')
  );
}
