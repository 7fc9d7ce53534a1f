'use client';

import { useState } from 'react';

type Place = { page: number; per_page: number };

/** What a page of a list shows when nothing says otherwise. */
export const PER_PAGE = 50;

/** Pages of a list that is here as a whole: a table of thousands of rows at once would not be usable. */
export function usePaged<T>(items: readonly T[] | undefined) {
  return pagedOf(items, ...useState<Place>({ page: 1, per_page: PER_PAGE }));
}

/** The same for a place that is kept elsewhere, as in the address. */
export function pagedOf<T>(items: readonly T[] | undefined, { page, per_page }: Place, set: (next: Place) => void) {
  const total = items?.length ?? 0;
  // A narrower list may have fewer pages than the one that was left.
  const shown = Math.min(page, Math.max(1, Math.ceil(total / per_page)));
  return {
    rows: items?.slice((shown - 1) * per_page, shown * per_page),
    pagination: {
      meta: { page: shown, per_page, total },
      onPage: (next: number) => set({ page: next, per_page }),
      onPerPage: (next: number) => set({ page: 1, per_page: next }),
    },
  };
}
