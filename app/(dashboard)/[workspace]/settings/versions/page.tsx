import type { Metadata } from 'next';
import { Prefetch } from '#app/prefetch.tsx';
import { VersionsView } from '#components/settings/versions-view.tsx';

export const metadata: Metadata = { title: 'API versions' };

export default async function VersionsPage({ params }: { params: Promise<{ workspace: string }> }) {
  const { workspace } = await params;
  return (
    <Prefetch workspace={workspace} space="live" queries={(trpc) => [trpc.apiKeys.versions.queryOptions({})]}>
      <VersionsView />
    </Prefetch>
  );
}
