'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import { useState } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import type { AppRouter } from '#server/trpc/root.ts';

export type Trial = Required<Pick<inferRouterInputs<AppRouter>['routes']['test'], 'method' | 'path' | 'headers' | 'body'>>;
export type Report = inferRouterOutputs<AppRouter>['routes']['test'];

/** What a trial starts with. */
export const emptyTestRequest: Trial = { method: 'GET', path: '/', headers: [], body: '' };

/** Sends what is written through the route. `report` is of the last one that was carried out. */
export function useTestRequest(routeId: string, environment: string) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const [report, setReport] = useState<Report>();
  // What comes back is shown here and kept nowhere else.
  const run = useMutation({
    ...trpc.routes.test.mutationOptions({
      onSuccess: (answer) => {
        setReport(answer);
        return cache.invalidateQueries(trpc.requestLogs.browse.pathFilter());
      },
    }),
    gcTime: 0,
  });
  /** `blank`: names filled in from a call of the log, whose values nobody kept; one that was left without a value is not sent. */
  const send = (trial: Trial, dry_run: boolean, blank: readonly string[] = []) => {
    const left = ({ name, value }: Trial['headers'][number]) => name.trim() === '' || (value === '' && blank.includes(name));
    const headers = trial.headers.filter((header) => !left(header)).map(({ name, value }) => ({ name: name.trim(), value }));
    run.mutate({
      id: routeId,
      environment,
      method: trial.method,
      path: trial.path || '/',
      headers,
      dry_run,
      ...(trial.body ? { body: trial.body } : {}),
    });
  };
  return { report, send, pending: run.isPending ? (run.variables.dry_run ? 'dry' : 'real') : undefined, error: run.error } as const;
}
