import type { Metadata } from 'next';
import { createLoader } from 'nuqs/server';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { BindingList } from '#components/ai-trust/binding-list.tsx';
import { bindingQuery, bindingSearch } from '#components/ai-trust/list-search.ts';

export const metadata: Metadata = { title: 'CI trust' };

const load = createLoader(bindingSearch);

export default async function CiTrustPage({ params, searchParams }: SpacePage) {
  const { workspace, space } = await params;
  const search = await load(searchParams);
  return (
    <Prefetch workspace={workspace} space={space} queries={(trpc) => [trpc.aiTrust.list.queryOptions(bindingQuery(search))]}>
      <BindingList />
    </Prefetch>
  );
}
