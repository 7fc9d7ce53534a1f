'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { z } from 'zod';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { nextKey, record } from '#components/trpc/recorder.ts';
import { shown } from '#components/trpc/shown.ts';
import type { ExplorerAnswer } from '#server/domain/explorer/schema.ts';
import { type ApiDocument, type Method, operationsOf } from './document.ts';
import type { PreparedCall } from './draft.ts';

export type Answer = z.output<typeof ExplorerAnswer>;

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

/** Sends one call as the signed-in person, in the space of the page. The answer may hold a key shown once: no cache keeps it. */
export function useSend() {
  const { slug, space, csrf, secret_fields } = useScope();
  const cache = useQueryClient();
  const trpc = useTRPC();
  return useMutation({
    gcTime: 0,
    mutationFn: async (call: PreparedCall & { method: Method; confirmed?: boolean; signal?: AbortSignal }): Promise<Answer> => {
      const { path, query, headers, body, method, confirmed, signal = null } = call;
      const response = await fetch('/admin/explorer/send', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-csrf-token': csrf, 'x-svc-space': space, 'x-tenant-id': slug },
        body: JSON.stringify({ path, query, headers, body, method, confirmed: confirmed ?? false }),
        signal,
      });
      const answer = (await response.json().catch(() => ({}))) as Record<string, unknown>;
      if (!response.ok) throw new SendRefused(response.status, answer);
      const { status, duration_ms: ms, request_id } = answer as Answer;
      const kind = method === 'GET' ? 'query' : 'mutation';
      // Which operation it was is found out later: what any of them marks is masked.
      const every = { any: Object.values(secret_fields).flat() };
      const hidden = (input: unknown) => shown('any', input, every);
      const asked = new URLSearchParams(hidden(query) as Record<string, string>).toString();
      const what = { method, path, public: true, query: asked, body: hidden(body) };
      record({ key: nextKey(), what, kind, status, ms: Math.round(ms), at: Date.now(), request_id });
      return answer as Answer;
    },
    onSuccess: (_, { method }) => {
      // A change may have touched any page; a read, the history only.
      void cache.invalidateQueries(
        method === 'GET' ? trpc.explorer.history.pathFilter() : { predicate: ({ queryKey }) => queryKey[0] !== 'openapi' },
      );
    },
  });
}
