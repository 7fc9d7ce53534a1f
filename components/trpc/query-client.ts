import { QueryClient, replaceEqualDeep } from '@tanstack/react-query';
import { isPlainJson } from '#server/kernel/plain-json.ts';

/** One stale-time policy for all pages. A refusal is an answer: only lost connections and our own faults are tried again. */
export const newQueryClient = () =>
  new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 15_000,
        // Sharing copies objects, whose names may be in an order of their own.
        structuralSharing: (before, now) => (isPlainJson(now) ? replaceEqualDeep(before, now) : now),
        refetchOnWindowFocus: true,
        // A list that failed while the service was away comes back by itself.
        refetchInterval: ({ state }) => state.status === 'error' && statusOf(state.error) === 503 && AGAIN_MS,
        retry: (failures, error) => failures < 2 && statusOf(error) >= 500,
      },
      mutations: { retry: false },
    },
  });

const AGAIN_MS = 10_000;
const statusOf = (error: unknown): number => (error as { data?: { status?: number } | null }).data?.status ?? 503;
