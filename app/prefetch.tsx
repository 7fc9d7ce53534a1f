import { dehydrate, HydrationBoundary } from '@tanstack/react-query';
import { createTRPCOptionsProxy, type TRPCOptionsProxy } from '@trpc/tanstack-react-query';
import { headers } from 'next/headers';
import { notFound } from 'next/navigation';
import type { ReactNode } from 'react';
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
 * data. A query that is refused here is asked again by the client, which shows the refusal.
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
  const served = await Promise.all(
    queries(trpc).map(async (query): Promise<ServedCall[]> => {
      const options = query as Parameters<typeof queryClient.prefetchQuery>[0];
      const began = performance.now();
      await queryClient.prefetchQuery(options);
      const [path, asked] = (options.queryKey ?? []) as unknown as [string[]?, { input?: unknown }?];
      // What was refused here is asked again by the browser, which notes it.
      if (!path || queryClient.getQueryState(options.queryKey ?? [])?.status !== 'success') return [];
      const procedure = path.join('.');
      return [{ procedure, input: shownInput(procedure, asked?.input), ms: Math.round(performance.now() - began), at: Date.now() }];
    }),
  );
  return (
    <HydrationBoundary state={dehydrate(queryClient)}>
      <ServedCalls requestId={ctx.request_id} calls={served.flat()} />
      {children}
    </HydrationBoundary>
  );
}
