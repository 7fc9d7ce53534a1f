'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { PlugZap } from 'lucide-react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { counted } from '#components/ui/numbers.ts';
import { GrantsBlock } from './grants-block.tsx';
import { type Connection, nextStepFor } from './labels.ts';

type Props = {
  connection: Pick<Connection, 'name' | 'engine' | 'execution_mode' | 'admin_username' | 'iam_db_user' | 'database_name' | 'iam_region'> &
    Partial<Pick<Connection, 'orphans'>>;
};

/** Logs in to the database once, and says what came of it. */
export function TestConnection({ connection }: Props) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const forbidden = useForbidden('dyn_db_cred:update');
  const check = useMutation(trpc.dynDb.test.mutationOptions({ onSettled: () => cache.invalidateQueries(trpc.dynDb.pathFilter()) }));
  const result = check.data;
  return (
    <div className="flex flex-col gap-3">
      <div>
        <Button
          icon={<PlugZap />}
          loading={check.isPending}
          disabledReason={forbidden}
          onClick={() => check.mutate({ connection: connection.name })}
        >
          Test connection
        </Button>
      </div>
      <MutationError error={check.error} />
      <div role="status" className="flex flex-col gap-3 empty:hidden">
        {result?.error && result.missing_privileges.length === 0 && (
          <Callout tone="bad" title={result.error}>
            {nextStepFor(result.error)}
          </Callout>
        )}
        {result?.ok && (
          <Callout tone="good" title={`Connected in ${counted(result.latency_ms, 'millisecond')}`}>
            {result.server_version && <span className="font-mono text-xs">{result.server_version}</span>}
          </Callout>
        )}
        {result && result.missing_privileges.length > 0 && (
          <Callout tone="bad" title={`Connected, but the admin user lacks ${counted(result.missing_privileges.length, 'privilege')}`}>
            <p>{nextStepFor('')}</p>
            <ul className="mt-1 list-disc pl-4 font-mono text-xs">
              {result.missing_privileges.map((privilege) => (
                <li key={privilege}>{privilege}</li>
              ))}
            </ul>
          </Callout>
        )}
        {result && result.missing_privileges.length > 0 && (
          <GrantsBlock
            open
            exists
            engine={connection.engine}
            iam={connection.execution_mode === 'iam'}
            username={connection.admin_username ?? connection.iam_db_user ?? ''}
            database={connection.database_name ?? ''}
            region={connection.iam_region ?? ''}
          />
        )}
      </div>
      <Orphans names={result?.orphans ?? connection.orphans ?? []} />
    </div>
  );
}

/** Users on the server that look like ours and belong to no lease. The service never drops them by itself. */
function Orphans({ names }: { names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <Callout tone="warn" title={`${counted(names.length, 'user')} on the server without a lease`}>
      <p>They look like users of this service, perhaps of another installation. Drop them yourself if nothing uses them.</p>
      <ul className="mt-1 list-disc pl-4 font-mono text-xs">
        {names.slice(0, 20).map((name) => (
          <li key={name}>{name}</li>
        ))}
      </ul>
      {names.length > 20 && <p className="mt-1">And {names.length - 20} more.</p>}
    </Callout>
  );
}
