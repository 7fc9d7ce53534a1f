import type { QueryClient } from '@tanstack/react-query';
import { refusalOf } from '#components/trpc/refusal.ts';
import type { ListedOperation } from '#server/domain/explorer/schema.ts';
import type { Command } from './commands.ts';
import { LookupFailed, type Sources } from './resource-names.ts';

type Needs = {
  commands: readonly Command[];
  cache: QueryClient;
  /** Asks a procedure of the dashboard. */
  query: (procedure: string, input: Record<string, unknown>, signal: AbortSignal) => Promise<unknown>;
  /** Everything that can be done here; waited for, since a name means nothing without it. */
  listed: () => Promise<readonly ListedOperation[]>;
};

/** A list that answers so has no names for this person: the service says the same of the call. */
const HAS_NONE = new Set([400, 402, 403, 404, 422]);

/** Where names come from: the lists of the dashboard, asked as the person. What they named a moment ago may be another thing by now, so nothing is kept. */
export function nameSources({ commands, cache, query, listed }: Needs): Sources {
  return {
    commands,
    listed: () => listed().catch(failed),
    ask: (procedure, input) =>
      cache
        .fetchQuery({
          queryKey: ['shell-names', procedure, input],
          staleTime: 0,
          queryFn: ({ signal }) => query(procedure, input, signal),
        })
        .catch((error: unknown) => (HAS_NONE.has(refusalOf(error).status) ? undefined : failed(error))),
  };
}

const failed = (cause: unknown): never => {
  throw new LookupFailed(cause);
};
