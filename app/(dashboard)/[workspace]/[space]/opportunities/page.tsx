import type { Metadata } from 'next';
import { createLoader } from 'nuqs/server';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { opportunityQuery, opportunitySearch } from '#components/opportunities/list-search.ts';
import { OpportunityList } from '#components/opportunities/opportunity-list.tsx';

export const metadata: Metadata = { title: 'Opportunities' };

const load = createLoader(opportunitySearch);

export default async function OpportunitiesPage({ params, searchParams }: SpacePage) {
  const { workspace, space } = await params;
  const search = await load(searchParams);
  return (
    <Prefetch workspace={workspace} space={space} queries={(trpc) => [trpc.opportunities.list.queryOptions(opportunityQuery(search))]}>
      <OpportunityList />
    </Prefetch>
  );
}
