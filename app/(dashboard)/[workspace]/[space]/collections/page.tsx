import type { Metadata } from 'next';
import { createLoader } from 'nuqs/server';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { CollectionGrid } from '#components/collections/collection-grid.tsx';
import { collectionListInput, collectionSearch } from '#components/collections/list-search.ts';

export const metadata: Metadata = { title: 'Collections' };

const search = createLoader(collectionSearch);

export default async function CollectionsPage({ params, searchParams }: SpacePage) {
  const [{ workspace, space }, wanted] = await Promise.all([params, search(searchParams)]);
  return (
    <Prefetch
      workspace={workspace}
      space={space}
      queries={(trpc) => [trpc.collections.list.queryOptions(collectionListInput(wanted)), trpc.account.plan.queryOptions({})]}
    >
      <CollectionGrid />
    </Prefetch>
  );
}
