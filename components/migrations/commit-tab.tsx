'use client';

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useRevealForbidden } from '#components/reveals/use-reveal-forbidden.ts';
import { useTRPC, useTRPCClient } from '#components/trpc/provider.tsx';
import { MutationError, QueryError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { counted, grouped } from '#components/ui/numbers.ts';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Stat } from '#components/ui/stat.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { Detail } from './labels.ts';

const CODES: Readonly<Record<string, string>> = {
  name_taken: 'a secret has this name',
  name_given_twice: 'two items have this name',
  secret_missing: 'the secret is gone',
};

/** What a commit of all approved items would do, and the button that does it. */
export function CommitTab({ migration }: { migration: Detail }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const forbidden = useRevealForbidden('migration:commit');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const preview = useQuery(trpc.migrations.preview.queryOptions({ id: migration.id }));
  if (preview.isError) return <QueryError query={preview} what="The summary" />;
  if (!preview.data) return <Skeleton lines={4} label="Loading the summary" />;
  const { creates, new_versions, secrets_needed, secrets_available, conflicts } = preview.data;
  const nothing = creates + new_versions === 0;
  const full = secrets_available !== null && secrets_needed > secrets_available;
  const commit = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const { committed } = await client.migrations.commit.mutate({ id: migration.id }, { context: { reveal: true } });
      notifyDone(`${counted(committed, 'item')} committed`);
      void queryClient.invalidateQueries(trpc.secrets.pathFilter());
      await queryClient.invalidateQueries(trpc.migrations.pathFilter());
    } catch (refused) {
      setError(refused);
    }
    setBusy(false);
  };
  return (
    <SectionCard
      title="Commit"
      description="All approved items become secrets, up to 500 at once, or none of them does."
      actions={
        <Button
          variant="primary"
          loading={busy}
          disabledReason={
            forbidden ??
            (nothing
              ? 'No item is approved'
              : conflicts.length > 0
                ? 'Resolve the conflicts first'
                : full
                  ? 'The plan has no room for them'
                  : undefined)
          }
          onClick={() => void commit()}
        >
          Commit
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        <div className="grid gap-3 sm:grid-cols-3">
          <Stat label="New secrets" value={grouped(secrets_needed)} />
          <Stat label="New versions" value={grouped(new_versions)} />
          <Stat label="Room in the plan" value={secrets_available === null ? 'Unlimited' : grouped(secrets_available)} />
        </div>
        {error !== undefined && <MutationError error={error} />}
        {conflicts.length > 0 && (
          <Callout tone="warn" title={`${counted(conflicts.length, 'conflict')} to resolve`}>
            <ul className="list-disc pl-4">
              {conflicts.slice(0, 20).map(({ id, code, name }) => (
                <li key={id}>
                  <span className="font-mono text-xs">{name}</span>: {CODES[code] ?? code}
                </li>
              ))}
            </ul>
          </Callout>
        )}
      </div>
    </SectionCard>
  );
}
