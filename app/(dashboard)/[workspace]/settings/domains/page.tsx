import type { Metadata } from 'next';
import { Prefetch } from '#app/prefetch.tsx';
import { DomainsView } from '#components/domains/domains-view.tsx';

export const metadata: Metadata = { title: 'Domains' };

export default async function DomainsPage({ params }: { params: Promise<{ workspace: string }> }) {
  const { workspace } = await params;
  return (
    <Prefetch workspace={workspace} space="live" queries={(trpc) => [trpc.domains.list.queryOptions({})]}>
      <DomainsView />
    </Prefetch>
  );
}
