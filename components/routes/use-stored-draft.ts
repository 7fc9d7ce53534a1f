'use client';

import { dropDraft, type Draft as Kept } from '#components/trpc/drafts.ts';
import { useDraftPlace, useKeptChanges, useLeftDraft } from '#components/trpc/form-draft.ts';
import { same } from '#components/ui/conflict.ts';
import { localOf, type Start } from './config-conflict.ts';
import type { Draft } from './config-draft.ts';
import { keptOf, placeOf, restored } from './stored-draft.ts';

type Drafts = Readonly<Record<string, Draft>>;
type Starts = Readonly<Record<string, Start>>;

/** Keeps the unsaved changes of a route for this tab, and offers back what was left; undefined when nothing was. */
export function useStoredDraft(
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
  const { secret, ...changes } = keptOf(drafts, starts);
  useKeptChanges(place, changes, left, secret);
  return (
    left && {
      draft: left,
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
