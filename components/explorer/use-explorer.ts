'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { z } from 'zod';
import { handingOver, handOver } from '#components/trpc/handover.ts';
import { type Scope, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { nextKey, record } from '#components/trpc/recorder.ts';
import { shown } from '#components/trpc/shown.ts';
import type { ExplorerAnswer } from '#server/domain/explorer/schema.ts';
import { refusalIn, withoutShownOnce } from './answer.ts';
import { type ApiDocument, type ApiOperation, operationsOf } from './document.ts';
import type { PreparedCall } from './draft.ts';

export type Answer = z.output<typeof ExplorerAnswer>;
/** A call as it is sent. `confirmed`: the person said yes to a change in Live. */
export type Sent = PreparedCall & { op: ApiOperation; confirmed: boolean; signal?: AbortSignal | null };

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

/**
 * Sends one call as the signed-in person, in the space of the page. What its answer shows once is handed over above the page, whatever became of the
 * page meanwhile, and is not in the answer that comes back from here.
 */
export function useSend() {
  const scope = useScope();
  const cache = useQueryClient();
  const trpc = useTRPC();
  return useMutation({
    gcTime: 0,
    mutationFn: async (call: Sent): Promise<Answer> => {
      const send = () => post(call, scope);
      const answer = await (call.op.shownOnce.length > 0 ? handingOver(send) : send());
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

async function post({ op, path, query, headers, body, confirmed, signal = null }: Sent, scope: Scope): Promise<Answer> {
  const { csrf, space, slug, person } = scope;
  const response = await fetch('/admin/explorer/send', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-csrf-token': csrf, 'x-svc-space': space, 'x-tenant-id': slug },
    body: JSON.stringify({ path, query, headers, body, method: op.method, confirmed }),
    // Nobody can ask for such an answer a second time: who stops waiting still gets what is in it.
    signal: op.shownOnce.length > 0 ? null : signal,
  });
  const read: unknown = await response.json().catch(() => undefined);
  // An answer that was cut off is none, whatever its status.
  if (!response.ok || !read) throw new SendRefused(response.status, (read ?? {}) as Record<string, unknown>);
  const answer = read as Answer;
  const { body: clean, taken } = withoutShownOnce(answer.body, op.shownOnce);
  const from = `Made in ${space === 'test' ? 'Test' : 'Live'} of ${slug}.`;
  handOver(taken.map((one) => ({ ...one, person, from })));
  return { ...answer, body: clean };
}

/** A refusal of the dashboard plane as pages read it. */
class SendRefused extends Error {
  readonly data: Record<string, unknown>;
  constructor(status: number, body: Record<string, unknown>) {
    super(String(body.message ?? 'Sallyport did not answer.'));
    this.name = 'SendRefused';
    this.data = { code: 'internal_error', request_id: '', ...body, status, message: this.message };
  }
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
