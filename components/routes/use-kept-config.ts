'use client';

import { useEffect, useRef } from 'react';
import { dropDraft, type Draft as Kept, keepDraft } from '#components/trpc/drafts.ts';
import { useDraftPlace, useLeftDraft } from '#components/trpc/form-draft.tsx';
import { same } from '#components/ui/conflict.ts';
import { localOf, type Start } from './config-conflict.ts';
import type { Draft } from './config-draft.ts';
import { keptLabels, keptOf, placeOf, restored } from './kept-config.ts';

type Drafts = Readonly<Record<string, Draft>>;
type Starts = Readonly<Record<string, Start>>;

/** Keeps the unsaved changes of a route for this tab, and offers back what was left; undefined when nothing was. */
export function useKeptConfig(
  routeId: string,
  drafts: Drafts,
  starts: Starts,
  { now, onRestore }: { now: Starts; onRestore: (kept: { drafts: Drafts; starts: Starts }) => void },
) {
  const place = useDraftPlace(`routes/${routeId}/configuration`);
  const [left, settle] = useLeftDraft(place, (name, value) => {
    const [env, field] = placeOf(name);
    const start = now[env];
    return start === undefined || same(localOf(start)[field], value);
  });
  const had = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: written when what is unsaved changes, not when the page renders again.
  useEffect(() => {
    const { secret, ...kept } = keptOf(drafts, starts);
    if (Object.keys(kept.values).length > 0)
      keepDraft(
        place,
        {
          at: new Date().toISOString(),
          version: left?.version ?? kept.version,
          // What was left here and not decided on stays; what is changed meanwhile joins it.
          base: { ...left?.base, ...kept.base },
          values: { ...left?.values, ...kept.values },
        },
        secret,
      );
    else if (had.current && !left) dropDraft(place);
    had.current = Object.keys(kept.values).length > 0;
  }, [drafts]);
  return (
    left && {
      draft: left,
      labels: keptLabels(left),
      restore: (kept: Kept) => {
        onRestore(restored(kept, now));
        settle();
      },
      discard: () => {
        dropDraft(place);
        settle();
      },
    }
  );
}
