import type { Metadata } from 'next';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { ExplorerView } from '#components/explorer/explorer-view.tsx';

export const metadata: Metadata = { title: 'API explorer' };

export default async function ExplorerPage({ params }: SpacePage) {
  const { workspace, space } = await params;
  return (
    <Prefetch workspace={workspace} space={space} queries={(trpc) => [trpc.explorer.history.queryOptions({})]}>
      <ExplorerView />
    </Prefetch>
  );
}
