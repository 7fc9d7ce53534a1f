'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { shown } from '#components/trpc/masked-input.ts';
import { type Scope, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { nextKey, record } from '#components/trpc/recorder.ts';
import { refusalIn } from './answer.ts';
import { type ApiDocument, operationsOf } from './document.ts';
import { type Answer, type Sent, sendCall } from './send.ts';

/** The operations of this installation, from its own OpenAPI document; fetched once a visit. */
export function useOperations() {
  return useQuery({
    queryKey: ['openapi'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      const response = await fetch('/openapi.json');
      if (!response.ok) throw new Error(`openapi.json answered ${response.status}`);
      return operationsOf((await response.json()) as ApiDocument);
    },
  });
}

/** Sends calls as the signed-in person, in the space of the page. What they were is in the developer pane, what they held of secrets is kept nowhere. */
export function useSend() {
  const scope = useScope();
  const cache = useQueryClient();
  const trpc = useTRPC();
  return useMutation({
    gcTime: 0,
    mutationFn: async (call: Sent): Promise<Answer> => {
      const answer = await sendCall(call, scope);
      note(call, answer, scope);
      return answer;
    },
    onSuccess: (_, { op: { method } }) => {
      // A change may have touched any page; a read, the history only.
      void cache.invalidateQueries(
        method === 'GET' ? trpc.explorer.history.pathFilter() : { predicate: ({ queryKey }) => queryKey[0] !== 'openapi' },
      );
    },
  });
}

/** Puts the call into the developer pane's list. Which operation it was is found out later: what any of them marks as secret is masked. */
function note({ op: { method }, path, query, body }: Sent, answer: Answer, { secret_fields }: Scope): void {
  const every = { any: Object.values(secret_fields).flat() };
  const hidden = <T>(input: T) => shown('any', input, every) as T;
  record({
    key: nextKey(),
    what: { method, path: hidden(path), public: true, query: new URLSearchParams(hidden(query)).toString(), body: hidden(body) },
    kind: method === 'GET' ? 'query' : 'mutation',
    status: answer.status,
    error: answer.status >= 400 ? refusalIn(answer) : undefined,
    ms: Math.round(answer.duration_ms),
    at: Date.now(),
    request_id: answer.request_id,
  });
}
