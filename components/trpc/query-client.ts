import { QueryClient } from '@tanstack/react-query';

/** One stale-time policy for all pages. A refusal is an answer: only lost connections and our own faults are tried again. */
export const newQueryClient = () =>
  new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 15_000,
        refetchOnWindowFocus: true,
        retry: (failures, error) => failures < 2 && statusOf(error) >= 500,
      },
      mutations: { retry: false },
    },
  });

const statusOf = (error: unknown): number => (error as { data?: { status?: number } | null }).data?.status ?? 503;
