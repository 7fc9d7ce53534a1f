import { dehydrate, HydrationBoundary } from '@tanstack/react-query';
import { createTRPCOptionsProxy, type TRPCOptionsProxy } from '@trpc/tanstack-react-query';
import { headers } from 'next/headers';
import type { ReactNode } from 'react';
import { newQueryClient } from '#components/trpc/query-client.ts';
import { dashboardContext } from '#server/trpc/context.ts';
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
  /** As the address has it. Of anything but live and test the layout makes a 404; here nothing is asked. */
  space: string;
  queries: (trpc: TRPCOptionsProxy<AppRouter>) => unknown[];
  children: ReactNode;
}) {
  if (space !== 'live' && space !== 'test') return null;
  const ctx = dashboardContext({ headers: await headers(), method: 'GET', workspace, space });
  const queryClient = newQueryClient();
  const trpc = createTRPCOptionsProxy<AppRouter>({ ctx, router: appRouter, queryClient });
  await Promise.all(queries(trpc).map((q) => queryClient.prefetchQuery(q as Parameters<typeof queryClient.prefetchQuery>[0])));
  return <HydrationBoundary state={dehydrate(queryClient)}>{children}</HydrationBoundary>;
}
