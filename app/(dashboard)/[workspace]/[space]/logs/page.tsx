import type { Metadata } from 'next';
import { createLoader } from 'nuqs/server';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { logFilters, logOrder, logSearch, PAGE_SIZE, spanOf, statsFilters } from '#components/logs/list-search.ts';
import { LogView } from '#components/logs/log-view.tsx';
import type { Space } from '#components/ui/test-band.tsx';

export const metadata: Metadata = { title: 'Logs' };

const load = createLoader(logSearch);

export default async function LogsPage({ params, searchParams }: SpacePage) {
  const { workspace, space } = await params;
  const search = await load(searchParams);
  const span = spanOf(search, Date.now());
  // A span that ends now has another key in the browser a moment later: only what both sides name alike is worth asking here.
  const shared = search.from !== null || search.to !== null || search.range === '24h';
  return (
    <Prefetch
      workspace={workspace}
      space={space as Space}
      queries={(trpc) => [
        ...(shared
          ? [
              trpc.requestLogs.browse.queryOptions({ ...logFilters(search), ...span, ...logOrder(search), per_page: PAGE_SIZE }),
              trpc.requestLogs.stats.queryOptions({ ...statsFilters(search), ...span }),
              trpc.requestLogs.facets.queryOptions({ ...logFilters(search), ...span }),
            ]
          : []),
        trpc.routes.list.queryOptions({ per_page: 100 }),
        trpc.environments.list.queryOptions({}),
        ...(search.peek ? [trpc.requestLogs.inspect.queryOptions({ request_id: search.peek })] : []),
      ]}
    >
      <LogView />
    </Prefetch>
  );
}
