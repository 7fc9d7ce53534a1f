'use client';

import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { inWords } from '#components/ui/conflict.ts';
import { Time } from '#components/ui/time.tsx';
import type { Draft } from './drafts.ts';

export type DraftOfferProps = {
  draft: Draft;
  /** How a field is called on this form; its wire name in words when absent. */
  labels?: Readonly<Record<string, string>> | undefined;
  onRestore: (draft: Draft) => void;
  onDiscard: () => void;
};

/** What was left unsaved here, offered back. */
export function DraftOffer({ draft, labels = {}, onRestore, onDiscard }: DraftOfferProps) {
  const names = (fields: readonly string[]) => fields.map((field) => labels[field] ?? inWords(field)).join(', ');
  return (
    <Callout
      title={
        <>
          You left unsaved changes <Time value={draft.at} />.
        </>
      }
      actions={
        <>
          <Button size="sm" variant="primary" onClick={() => onRestore(draft)}>
            Restore
          </Button>
          <Button size="sm" onClick={onDiscard}>
            Discard
          </Button>
        </>
      }
    >
      Changed: {names(Object.keys(draft.values))}.
      {draft.left_out.length > 0 && ` Not saved, because it may contain a credential: ${names(draft.left_out)}.`}
    </Callout>
  );
}
