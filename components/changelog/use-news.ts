'use client';

import { useState } from 'react';
import { usePreferences } from '#components/theme/preferences-provider.tsx';

/** The newest entry of the changelog, and how many the person had not seen when the page was made. */
export type News = { newest: string; unread: number };

/** The panel of the changelog: opened, everything in it is seen, here and in the person's other browsers. */
export function useNews({ newest, unread }: News) {
  const [open, setOpen] = useState(false);
  const { preferences, save } = usePreferences();
  const seen = preferences.changelog_seen === newest;
  return {
    open,
    unread: seen ? 0 : unread,
    setOpen: (next: boolean) => {
      setOpen(next);
      if (next && !seen) save({ changelog_seen: newest });
    },
  };
}
