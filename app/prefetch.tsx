import { HydrationBoundary, hashKey } from '@tanstack/react-query';
import { createTRPCOptionsProxy, type TRPCOptionsProxy } from '@trpc/tanstack-react-query';
import { headers } from 'next/headers';
import { notFound } from 'next/navigation';
import type { ReactNode } from 'react';
import { dehydrated } from '#components/trpc/dehydrated.ts';
import { newQueryClient } from '#components/trpc/query-client.ts';
import { type ServedCall, ServedCalls } from '#components/trpc/served-calls.tsx';
import { dashboardContext } from '#server/trpc/context.ts';
import { shownInput } from '#server/trpc/listed-operations.ts';
import { type AppRouter, appRouter } from '#server/trpc/root.ts';

export type SpacePage = {
  params: Promise<{ workspace: string; space: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
};

/**
 * Runs the page's queries on the server with the visitor's own rights and hands the answers to the client's cache, so that the first paint has
 * data. A query that is refused here is asked again by the client, which shows the refusal, and so is one whose answer React can't pass.
 */
export async function Prefetch({
  workspace,
  space,
  queries,
  children,
}: {
  workspace: string;
  /** As the address has it: anything but live and test has no pages. */
  space: string;
  queries: (trpc: TRPCOptionsProxy<AppRouter>) => unknown[];
  children: ReactNode;
}) {
  if (space !== 'live' && space !== 'test') notFound();
  const ctx = dashboardContext({ headers: await headers(), method: 'GET', workspace, space });
  const queryClient = newQueryClient();
  const trpc = createTRPCOptionsProxy<AppRouter>({ ctx, router: appRouter, queryClient });
  const calls = await Promise.all(
    queries(trpc).map(async (query): Promise<(ServedCall & { hash: string })[]> => {
      const options = query as Parameters<typeof queryClient.prefetchQuery>[0];
      const began = performance.now();
      await queryClient.prefetchQuery(options);
      const [path, asked] = (options.queryKey ?? []) as unknown as [string[]?, { input?: unknown }?];
      if (!path) return [];
      const procedure = path.join('.');
      const hash = hashKey(options.queryKey ?? []);
      return [{ hash, procedure, input: shownInput(procedure, asked?.input), ms: Math.round(performance.now() - began), at: Date.now() }];
    }),
  );
  const state = dehydrated(queryClient);
  const handed = new Set(state.queries.map(({ queryHash }) => queryHash));
  // What isn't handed over is asked again by the browser, which notes it.
  const served = calls.flat().flatMap(({ hash, ...call }) => (handed.has(hash) ? [call] : []));
  return (
    <HydrationBoundary state={state}>
      <ServedCalls requestId={ctx.request_id} calls={served} />
      {children}
    </HydrationBoundary>
  );
}
