import type { Metadata } from 'next';
import { createLoader } from 'nuqs/server';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { LimitList } from '#components/ai-spend/limit-list.tsx';
import { limitQuery, limitSearch } from '#components/ai-spend/list-search.ts';
import type { Space } from '#components/ui/test-band.tsx';

export const metadata: Metadata = { title: 'Limit policies' };

const load = createLoader(limitSearch);

export default async function LimitPoliciesPage({ params, searchParams }: SpacePage) {
  const { workspace, space } = await params;
  const { page } = await load(searchParams);
  return (
    <Prefetch workspace={workspace} space={space as Space} queries={(trpc) => [trpc.aiSpend.listLimits.queryOptions(limitQuery(page))]}>
      <LimitList />
    </Prefetch>
  );
}
