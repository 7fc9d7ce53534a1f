import { QueryClient, replaceEqualDeep } from '@tanstack/react-query';

/** One stale-time policy for all pages. A refusal is an answer: only lost connections and our own faults are tried again. */
export const newQueryClient = () =>
  new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 15_000,
        // Sharing copies objects, whose names may be in an order of their own.
        structuralSharing: (before, now) => (isAsCopied(now) ? replaceEqualDeep(before, now) : now),
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

/** Whether a copy of it would tell its names in the same order. Numbers that keep their digits are objects of a class, which sharing leaves alone. */
const isAsCopied = (value: unknown): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (Object.keys(value).join() === Object.keys({ ...value }).join() && Object.values(value).every(isAsCopied));
