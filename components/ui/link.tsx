'use client';

import NextLink from 'next/link';
import { type ComponentProps, useState } from 'react';

/**
 * A link inside the dashboard, whose page is fetched once a pointer, a finger or the focus is on it. Left to itself the framework fetches every page that a
 * link in view leads to: forty calls to the server for each page that somebody opens.
 */
export function Link({ onPointerEnter, onFocus, prefetch, ...rest }: ComponentProps<typeof NextLink>) {
  const [meant, setMeant] = useState(false);
  return (
    <NextLink
      {...rest}
      prefetch={prefetch ?? (meant ? null : false)}
      onPointerEnter={(event) => {
        setMeant(true);
        onPointerEnter?.(event);
      }}
      onFocus={(event) => {
        setMeant(true);
        onFocus?.(event);
      }}
    />
  );
}
