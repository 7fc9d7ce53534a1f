'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPCClient } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Time } from '#components/ui/time.tsx';
import { definitionDiff } from './definition-diff.ts';
import { DiffLines } from './diff-lines.tsx';
import { documentOf } from './document.ts';
import type { Editor } from './use-editor.ts';

/** Somebody else saved the draft since it was opened: who, what differs, and whose stays. */
export function ConflictNotice({ id, editor }: { id: string; editor: Editor }) {
  const client = useTRPCClient();
  // Not the draft of the cache: that is the one under edit.
  const theirs = useQuery({ queryKey: ['workflow-conflict', id], queryFn: () => client.workflows.draft.query({ id }), gcTime: 0 });
  const saved = theirs.data;
  return (
    <Callout
      tone="warn"
      title={`${saved?.saved_by?.name ?? 'Somebody else'} saved this draft too`}
      actions={
        saved && (
          <>
            <Button size="sm" onClick={() => editor.replace(saved)}>
              Take theirs
            </Button>
            <Button size="sm" onClick={() => editor.overwrite(saved)}>
              Keep mine
            </Button>
          </>
        )
      }
    >
      {saved && (
        <div className="flex flex-col gap-1">
          <p>
            Saved <Time value={saved.saved_at} />. Yours is not saved until you choose. From theirs to yours:
          </p>
          <DiffLines diff={definitionDiff(documentOf(saved.definition), editor.doc)} />
        </div>
      )}
    </Callout>
  );
}
