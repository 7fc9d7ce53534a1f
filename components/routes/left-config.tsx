import { DraftOffer } from '#components/trpc/draft-offer.tsx';
import { keptLabels } from './kept-labels.ts';
import type { useKeptConfig } from './use-kept-config.ts';

/** Changes of a route that were left unsaved in this tab, offered back. */
export function LeftConfig({ left }: { left: NonNullable<ReturnType<typeof useKeptConfig>> }) {
  return <DraftOffer draft={left.draft} labels={keptLabels(left.draft)} onRestore={left.restore} onDiscard={left.discard} />;
}
