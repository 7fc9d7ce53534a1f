'use client';

import { useEffect, useRef } from 'react';

/**
 * Where the keyboard goes on when what was pressed gives way to something else, such as the row it added or the next step: `focusAfter` takes a
 * selector, and once the change stands on the page its first match inside `box` has the focus. Without it the focus falls to the top of the page.
 */
export function useFocusAfter() {
  const box = useRef<HTMLDivElement>(null);
  const wanted = useRef<string>(undefined);
  useEffect(() => {
    if (wanted.current === undefined) return;
    const found = box.current?.querySelector<HTMLElement>(wanted.current);
    if (!found) return;
    wanted.current = undefined;
    found.focus();
  });
  const focusAfter = (selector: string) => {
    wanted.current = selector;
  };
  return { box, focusAfter };
}
