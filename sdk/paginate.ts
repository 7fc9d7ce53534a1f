import { pause } from './exchange.ts';

type Page<T> = { data: readonly T[]; meta: { total_pages: number } };
type Batch<T> = { data: readonly T[]; meta: { next_cursor?: string | null } };

/**
 * All results of a paged list, fetched as they are consumed:
 * `for await (const route of paginate((query) => sallyport.routes.list({ query })))`.
 * A result that moved to a later page meanwhile is given once.
 */
export async function* paginate<T>(
  list: (query: { page: number; per_page: number }) => Promise<Page<T>>,
  per_page = 100,
): AsyncGenerator<T> {
  const given = new Set<unknown>();
  for (let page = 1, last = 1; page <= last; page++) {
    const { data, meta } = await list({ page, per_page });
    if (data.length === 0) return;
    last = meta.total_pages;
    for (const one of data) {
      const id = (one as { id?: unknown }).id;
      if (id !== undefined && given.has(id)) continue;
      given.add(id);
      yield one;
    }
  }
}

export type FeedOptions = {
  /** Where an earlier run stopped. */
  cursor?: string | undefined;
  /** Keeps asking when the feed is drained, instead of ending. */
  follow?: boolean;
  /** Between two requests of a drained feed. Default: 2,000. */
  poll_ms?: number;
  signal?: AbortSignal;
};

/** All results of a feed (`logs.follow`, `auditLogs.events`), oldest first, each once. Ends when the feed is drained, unless it is followed. */
export async function* paginateFeed<T extends { cursor?: string; request_id?: string; id?: string }>(
  list: (query: { cursor?: string; limit: number }) => Promise<Batch<T>>,
  { cursor, follow = false, poll_ms = 2_000, signal }: FeedOptions = {},
): AsyncGenerator<T> {
  let latest: (string | undefined)[] = [];
  for (;;) {
    const { data, meta } = await list({ ...(cursor ? { cursor } : {}), limit: 100 });
    // Delivery is at least once: what the last batch had may come again.
    for (const one of data) if (!latest.includes(one.id ?? one.request_id)) yield one;
    if (data.length > 0) latest = data.map((one) => one.id ?? one.request_id);
    cursor = meta.next_cursor ?? data.at(-1)?.cursor ?? cursor;
    if (meta.next_cursor) continue;
    if (!follow) return;
    await pause(poll_ms, signal);
  }
}
