'use client';

import { type RefObject, useCallback, useLayoutEffect, useState } from 'react';

/** Rows beyond both edges, so that a fast scroll finds them drawn. */
const OVERSCAN = 12;
/** Before anything is measured, and from the server: about what a tall window shows. */
const FIRST = 40;

/**
 * Which rows of one height are in sight of a scrolling box. `to` is the first that is not; both move only when a row enters or leaves.
 * `show` scrolls as little as brings a row into sight.
 */
export function useWindow(box: RefObject<HTMLElement | null>, count: number, rowHeight: number) {
  const [seen, setSeen] = useState({ from: 0, to: FIRST });
  const measure = useCallback(() => {
    if (!box.current) return;
    const { scrollTop, clientHeight } = box.current;
    const from = Math.max(0, Math.floor(scrollTop / rowHeight) - OVERSCAN);
    const to = Math.ceil((scrollTop + clientHeight) / rowHeight) + OVERSCAN;
    setSeen((now) => (now.from === from && now.to === to ? now : { from, to }));
  }, [box, rowHeight]);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', measure);
    };
  }, [box, measure]);
  const show = (index: number) => {
    const element = box.current;
    if (!element) return;
    const top = index * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight) element.scrollTop = top + rowHeight - element.clientHeight;
    measure();
  };
  // A list that became shorter keeps its scroll place only as far as there are rows.
  return { from: Math.min(seen.from, Math.max(0, count - 1)), to: Math.min(seen.to, count), show };
}
