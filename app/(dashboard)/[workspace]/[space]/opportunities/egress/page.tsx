import type { Metadata } from 'next';
import { createLoader } from 'nuqs/server';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { EgressList } from '#components/opportunities/egress-list.tsx';
import { egressQuery, egressSearch } from '#components/opportunities/list-search.ts';

export const metadata: Metadata = { title: 'Uncovered egress' };

const load = createLoader(egressSearch);

export default async function UncoveredEgressPage({ params, searchParams }: SpacePage) {
  const { workspace, space } = await params;
  const search = await load(searchParams);
  return (
    <Prefetch workspace={workspace} space={space} queries={(trpc) => [trpc.opportunities.observed.queryOptions(egressQuery(search))]}>
      <EgressList />
    </Prefetch>
  );
}
