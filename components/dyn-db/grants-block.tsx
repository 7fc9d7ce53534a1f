'use client';

import { CodeBlock } from '#components/ui/code-block.tsx';
import { type GrantsFor, grantsFor } from './grants.ts';

/** What to run on the server for the admin user, folded away until it is wanted. */
export function GrantsBlock({ open = false, ...given }: GrantsFor & { open?: boolean }) {
  return (
    <details open={open || undefined} className="rounded-lg border border-line-strong bg-subtle">
      <summary className="flex min-h-9 cursor-pointer select-none items-center px-3 text-ink-2 text-xs hover:text-ink">
        {given.iam ? 'Set up the database user and its IAM policy' : 'Create the admin user with these grants'}
      </summary>
      <CodeBlock snippets={grantsFor(given)} className="rounded-t-none border-0 border-line-strong border-t" />
    </details>
  );
}
