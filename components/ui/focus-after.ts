'use client';

import { useEffect, useRef } from 'react';

/**
 * Where the keyboard goes on when what was pressed gives way to something else, such as the row it added or the next step: `focusAfter` takes a
 * selector, and once the change stands on the page its first match inside `box` has the focus. Without it the focus falls to the top of the page.
 * @param state what the change changes, where its first match stands there before already
 */
export function useFocusAfter(state?: string) {
  const box = useRef<HTMLDivElement>(null);
  const wanted = useRef<string>(undefined);
  const shown = useRef(state);
  useEffect(() => {
    if (wanted.current === undefined || (state !== undefined && state === shown.current)) return;
    const found = box.current?.querySelector<HTMLElement>(wanted.current);
    if (!found) return;
    wanted.current = undefined;
    found.focus();
  });
  // After the effect above: it compares with what was shown before.
  useEffect(() => {
    shown.current = state;
  });
  const focusAfter = (selector: string) => {
    wanted.current = selector;
  };
  return { box, focusAfter };
}
