import { defaultShouldDehydrateQuery, dehydrate, type QueryClient } from '@tanstack/react-query';
import { isPlainJson } from '#server/kernel/plain-json.ts';

/**
 * What the server has read for a page, for the cache of its browser. React passes plain values only and fails the whole page for others, so an answer with a
 * number that keeps its digits is left out, and the browser asks for it itself.
 */
export const dehydrated = (queryClient: QueryClient) =>
  dehydrate(queryClient, { shouldDehydrateQuery: (query) => defaultShouldDehydrateQuery(query) && isPlainJson(query.state.data) });
