import { DraftOffer } from '#components/trpc/draft-offer.tsx';
import { draftLabels } from './draft-labels.ts';
import type { useStoredDraft } from './use-stored-draft.ts';

/** Changes of a route that were left unsaved in this tab, offered back. */
export function UnsavedChanges({ left }: { left: NonNullable<ReturnType<typeof useStoredDraft>> }) {
  return <DraftOffer draft={left.draft} labels={draftLabels(left.draft)} onRestore={left.restore} onDiscard={left.discard} />;
}
