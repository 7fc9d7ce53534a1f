import { Check, Minus } from 'lucide-react';
import type { Grant } from './permissions.ts';

const WORDS: Record<Grant, string> = {
  yes: 'Allowed',
  own: 'Own only',
  flag: 'If granted reveals',
  verified: 'After verification',
  names: 'Names only',
  some: 'Some',
  no: 'Not allowed',
};

/** Whether a role holds a permission: a check or a dash, and words for everything in between. */
export function GrantCell({ grant }: { grant: Grant }) {
  if (grant !== 'yes' && grant !== 'no') return <span className="text-ink-2 text-xs">{WORDS[grant]}</span>;
  return (
    <>
      {grant === 'yes' ? (
        <Check aria-hidden className="inline size-4 text-good-ink" />
      ) : (
        <Minus aria-hidden className="inline size-4 text-ink-3" />
      )}
      <span className="sr-only">{WORDS[grant]}</span>
    </>
  );
}

/** `view (names only)` of a permission that is held in part. */
export const qualified = (label: string, grant: Grant): string => (grant === 'yes' ? label : `${label} (${WORDS[grant].toLowerCase()})`);
