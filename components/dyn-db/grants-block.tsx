'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { type GrantsFor, grantsFor } from './grants.ts';

/** What to run on the server for the admin user, folded away until it is wanted. */
export function GrantsBlock({ open = false, ...given }: GrantsFor & { open?: boolean }) {
  const trpc = useTRPC();
  const forbidden = useForbidden('migration:create');
  // The roles of migrations trust the same identity.
  const setup = useQuery(trpc.migrations.setup.queryOptions({}, { enabled: given.iam && !forbidden, retry: false }));
  return (
    <details open={open || undefined} className="rounded-lg border border-line-strong bg-subtle">
      <summary className="flex min-h-9 cursor-pointer select-none items-center px-3 text-ink-2 text-xs hover:text-ink">
        {given.iam
          ? 'Set up the database user and its IAM policy'
          : given.exists
            ? 'Grant the admin user what it lacks'
            : 'Create the admin user with these grants'}
      </summary>
      <CodeBlock snippets={grantsFor(given, setup.data)} className="rounded-t-none border-0 border-line-strong border-t" />
    </details>
  );
}
