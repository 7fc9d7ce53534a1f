import type { Metadata } from 'next';
import { Prefetch } from '#app/prefetch.tsx';
import { CollectionDetail } from '#components/collections/collection-detail.tsx';

export const metadata: Metadata = { title: 'Collection' };

type CollectionPageProps = { params: Promise<{ workspace: string; space: string; id: string }> };

export default async function CollectionPage({ params }: CollectionPageProps) {
  const { workspace, space, id } = await params;
  return (
    <Prefetch workspace={workspace} space={space} queries={(trpc) => [trpc.collections.get.queryOptions({ id })]}>
      <CollectionDetail id={id} />
    </Prefetch>
  );
}
