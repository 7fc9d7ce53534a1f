'use client';

import { Check, CircleAlert, CircleDashed } from 'lucide-react';
import { Button } from '#components/ui/button.tsx';
import type { Saving } from './use-editor.ts';

/** Whether the draft is on the server. */
export function SaveState({ saving, onRetry }: { saving: Saving; onRetry: () => void }) {
  return (
    <span role="status" className="flex items-center gap-1.5 text-ink-3 text-xs [&_svg]:size-3.5">
      {saving.state === 'saved' && (
        <>
          <Check aria-hidden /> Draft saved
        </>
      )}
      {(saving.state === 'unsaved' || saving.state === 'saving') && (
        <>
          <CircleDashed aria-hidden /> {saving.state === 'saving' ? 'Saving…' : 'Not saved yet'}
        </>
      )}
      {saving.state === 'conflict' && (
        <>
          <CircleAlert aria-hidden className="text-bad-ink" /> Not saved
        </>
      )}
      {saving.state === 'failed' && (
        <>
          <CircleAlert aria-hidden className="text-bad-ink" /> {saving.message}
          <Button size="sm" onClick={onRetry}>
            Try again
          </Button>
        </>
      )}
    </span>
  );
}
