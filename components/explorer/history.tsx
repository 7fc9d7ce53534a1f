'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Badge } from '#components/ui/badge.tsx';
import { Time } from '#components/ui/time.tsx';
import type { ApiOperation } from './document.ts';
import { type Draft, draftOf } from './draft.ts';

/** One's own calls of this space; choosing one fills the form again, without what was secret. */
export function History({ operations, onChoose }: { operations: readonly ApiOperation[]; onChoose: (id: string, draft: Draft) => void }) {
  const trpc = useTRPC();
  const history = useQuery(trpc.explorer.history.queryOptions({}));
  if (history.error && !history.data) return <QueryError query={history} what="History" />;
  const calls = history.data?.calls ?? [];
  if (calls.length === 0) return <p className="text-ink-3">No calls yet. Calls you send appear here, visible only to you.</p>;
  return (
    <ul className="divide-y divide-line">
      {calls.map((call) => {
        const op = operations.find(({ id }) => id === call.operation);
        return (
          <li key={call.id}>
            <button
              type="button"
              disabled={!op}
              onClick={() => op && onChoose(op.id, draftOf(op, call))}
              className="flex w-full min-w-0 items-center gap-2 py-1.5 text-left text-xs hover:bg-subtle"
            >
              <Badge tone={call.status < 300 ? 'good' : call.status < 500 ? 'warn' : 'bad'}>{call.status}</Badge>
              <span className="min-w-0 flex-1 truncate font-mono">
                {call.method} {call.path}
              </span>
              <Time value={call.created_at} />
            </button>
          </li>
        );
      })}
    </ul>
  );
}
