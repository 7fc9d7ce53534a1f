'use client';

import { useState } from 'react';

type Place = { page: number; per_page: number };

/** What a page of a list shows when nothing says otherwise. */
export const PER_PAGE = 50;
const MOST = 100;

/** Pages of a list that is here as a whole: a table of thousands of rows at once would not be usable. */
export function usePaged<T>(items: readonly T[] | undefined) {
  return pagedOf(items, ...useState<Place>({ page: 1, per_page: PER_PAGE }));
}

/** The same for a place that is kept elsewhere, as in the address. */
export function pagedOf<T>(items: readonly T[] | undefined, { page, per_page }: Place, set: (next: Place) => void) {
  const total = items?.length ?? 0;
  // An address may say anything.
  const size = Math.min(Math.max(per_page, 1), MOST);
  // A narrower list may have fewer pages than the one that was left.
  const shown = Math.max(1, Math.min(page, Math.ceil(total / size)));
  return {
    rows: items?.slice((shown - 1) * size, shown * size),
    pagination: {
      meta: { page: shown, per_page: size, total },
      onPage: (next: number) => set({ page: next, per_page: size }),
      onPerPage: (next: number) => set({ page: 1, per_page: next }),
    },
  };
}
