import type { Metadata } from 'next';
import { createLoader } from 'nuqs/server';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { routeListInput, routeSearch } from '#components/routes/list-search.ts';
import { RouteList } from '#components/routes/route-list.tsx';

export const metadata: Metadata = { title: 'Routes' };

const search = createLoader(routeSearch);

export default async function RoutesPage({ params, searchParams }: SpacePage) {
  const [{ workspace, space }, wanted] = await Promise.all([params, search(searchParams)]);
  return (
    <Prefetch
      workspace={workspace}
      space={space}
      queries={(trpc) => [
        trpc.routes.list.queryOptions(routeListInput(wanted)),
        trpc.environments.list.queryOptions({}),
        trpc.collections.list.queryOptions({ per_page: 100 }),
        trpc.account.plan.queryOptions({}),
      ]}
    >
      <RouteList />
    </Prefetch>
  );
}
