'use client';

import NextLink from 'next/link';
import { type ComponentProps, useEffect, useRef, useState } from 'react';

/** How long a pointer or the focus stays on a link that is meant: less than until the click, more than in passing. */
const MEANT_MS = 60;

/**
 * A link inside the dashboard, whose page is fetched once somebody means to open it: a finger is on it, or a pointer or the focus stays there. Left to
 * itself the framework fetches every page that a link in view leads to: forty calls to the server for each page that somebody opens.
 */
export function Link({ onPointerEnter, onPointerLeave, onFocus, onBlur, prefetch, ...rest }: ComponentProps<typeof NextLink>) {
  const [meant, setMeant] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const come = () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setMeant(true), MEANT_MS);
  };
  const leave = () => clearTimeout(timer.current);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <NextLink
      {...rest}
      prefetch={prefetch ?? (meant ? null : false)}
      onPointerEnter={(event) => {
        if (event.pointerType === 'mouse') come();
        else setMeant(true);
        onPointerEnter?.(event);
      }}
      onPointerLeave={(event) => {
        leave();
        onPointerLeave?.(event);
      }}
      onFocus={(event) => {
        come();
        onFocus?.(event);
      }}
      onBlur={(event) => {
        leave();
        onBlur?.(event);
      }}
    />
  );
}
