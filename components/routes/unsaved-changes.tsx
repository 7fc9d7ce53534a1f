import { DraftOffer } from '#components/trpc/draft-offer.tsx';
import { keptLabels } from './draft-labels.ts';
import type { useKeptConfig } from './use-stored-draft.ts';

/** Changes of a route that were left unsaved in this tab, offered back. */
export function LeftConfig({ left }: { left: NonNullable<ReturnType<typeof useKeptConfig>> }) {
  return <DraftOffer draft={left.draft} labels={keptLabels(left.draft)} onRestore={left.restore} onDiscard={left.discard} />;
}
