import type { Metadata } from 'next';
import { NuqsAdapter } from 'nuqs/adapters/next/app';
import { Prefetch } from '#app/prefetch.tsx';
import { DirectoryView } from '#components/scim/directory-view.tsx';

export const metadata: Metadata = { title: 'Directory (SCIM)' };

export default async function DirectoryPage({ params }: { params: Promise<{ workspace: string }> }) {
  const { workspace } = await params;
  return (
    <Prefetch
      workspace={workspace}
      space="live"
      queries={(trpc) => [
        trpc.scimCredentials.status.queryOptions({}),
        trpc.scimCredentials.list.queryOptions({}),
        trpc.domains.list.queryOptions({}),
      ]}
    >
      <NuqsAdapter>
        <DirectoryView />
      </NuqsAdapter>
    </Prefetch>
  );
}
