'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { z } from 'zod';
import { handingOver, handOver } from '#components/trpc/handover.ts';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { nextKey, record } from '#components/trpc/recorder.ts';
import { shown } from '#components/trpc/shown.ts';
import type { ExplorerAnswer } from '#server/domain/explorer/schema.ts';
import { withoutShownOnce } from './answer.ts';
import { type ApiDocument, type ApiOperation, operationsOf } from './document.ts';
import type { PreparedCall } from './draft.ts';

export type Answer = z.output<typeof ExplorerAnswer>;
/** A call as it is sent. `confirmed`: the person said yes to a change in Live. */
export type Sent = PreparedCall & { op: ApiOperation; confirmed: boolean; signal?: AbortSignal };

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

/** A refusal of the dashboard plane as pages read it. */
class SendRefused extends Error {
  readonly data: Record<string, unknown>;
  constructor(status: number, body: Record<string, unknown>) {
    super(String(body.message ?? 'Sallyport did not answer.'));
    this.name = 'SendRefused';
    this.data = { code: 'internal_error', request_id: '', ...body, status, message: this.message };
  }
}

/**
 * Sends one call as the signed-in person, in the space of the page. What its answer shows once is handed over above the page, whatever became of the
 * page meanwhile, and is not in the answer that comes back from here.
 */
export function useSend() {
  const { slug, space, csrf, person, secret_fields } = useScope();
  const cache = useQueryClient();
  const trpc = useTRPC();
  return useMutation({
    gcTime: 0,
    mutationFn: async ({ op, path, query, headers, body, confirmed, signal }: Sent): Promise<Answer> => {
      const { method, shownOnce } = op;
      const send = async () => {
        const response = await fetch('/admin/explorer/send', {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-csrf-token': csrf, 'x-svc-space': space, 'x-tenant-id': slug },
          body: JSON.stringify({ path, query, headers, body, method, confirmed }),
          // Nobody can ask for such an answer a second time: who stops waiting still gets what is in it.
          signal: shownOnce.length > 0 ? null : (signal ?? null),
        });
        const answer = (await response.json().catch(() => ({}))) as Record<string, unknown>;
        if (!response.ok) throw new SendRefused(response.status, answer);
        const { body: clean, taken } = withoutShownOnce((answer as Answer).body, shownOnce);
        const from = `Made in ${space === 'test' ? 'Test' : 'Live'} of ${slug}.`;
        handOver(taken.map((one) => ({ ...one, person, from })));
        return { ...(answer as Answer), body: clean };
      };
      const answer = await (shownOnce.length > 0 ? handingOver(send) : send());
      const { status, duration_ms: ms, request_id } = answer;
      const kind = method === 'GET' ? 'query' : 'mutation';
      // Which operation it was is found out later: what any of them marks is masked.
      const every = { any: Object.values(secret_fields).flat() };
      const hidden = (input: unknown) => shown('any', input, every);
      const asked = new URLSearchParams(hidden(query) as Record<string, string>).toString();
      const what = { method, path, public: true, query: asked, body: hidden(body) };
      record({ key: nextKey(), what, kind, status, ms: Math.round(ms), at: Date.now(), request_id });
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
