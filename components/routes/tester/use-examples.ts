'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { inferRouterOutputs } from '@trpc/server';
import { useState } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { type Assertion, judge, type Verdict } from '#server/domain/routes/examples/assertions.shared.ts';
import type { AppRouter } from '#server/trpc/root.ts';
import type { Report } from './use-test-request.ts';

export type Example = inferRouterOutputs<AppRouter>['routes']['examples']['data'][number];
export type Judged = { assertion: Assertion } & Verdict;
/** What a run of an example led to: what was judged, or why nothing came back. */
export type Run = { status: number | null; judged: Judged[]; problem: string | null };

/** The saved examples of a route, and running them one after the other. */
export function useExamples(routeId: string, environment: string) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const list = useQuery(trpc.routes.examples.queryOptions({ id: routeId }));
  const send = useMutation({ ...trpc.routes.test.mutationOptions(), gcTime: 0 });
  const [runs, setRuns] = useState<ReadonlyMap<string, Run | 'running'>>(new Map());
  const note = (id: string, run: Run | 'running') => setRuns((now) => new Map(now).set(id, run));
  const run = async (examples: readonly Example[]) => {
    for (const { id, method, path, headers, body, assertions } of examples) {
      note(id, 'running');
      // A header that is kept without its value carried a credential: the route puts its own in.
      const sent = headers.filter(({ value }) => value !== '');
      try {
        const report = await send.mutateAsync({ id: routeId, environment, method, path, headers: sent, ...(body ? { body } : {}) });
        note(id, { status: report.response?.status ?? null, judged: judgeAll(assertions, report), problem: null });
      } catch (error) {
        note(id, { status: null, judged: [], problem: refusalOf(error).message });
      }
    }
    await cache.invalidateQueries(trpc.requestLogs.browse.pathFilter());
  };
  return { list, runs, run, busy: send.isPending };
}

/** Each assertion on what came back; nothing came back from a dry run, so nothing can be said. */
export const judgeAll = (assertions: readonly Assertion[], { response, timings }: Report): Judged[] =>
  assertions.map((assertion) => ({
    assertion,
    ...(response ? judge(assertion, { ...response, total_ms: timings.total_ms }) : { verdict: 'unknown' as const, found: 'no response' }),
  }));
