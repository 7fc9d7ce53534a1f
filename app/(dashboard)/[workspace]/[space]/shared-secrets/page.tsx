import type { Metadata } from 'next';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { IncomingShares } from '#components/secret-shares/incoming-list.tsx';
import type { Space } from '#components/ui/test-band.tsx';

export const metadata: Metadata = { title: 'Shared with me', referrer: 'no-referrer' };

export default async function SharedSecretsPage({ params }: SpacePage) {
  const { workspace, space } = await params;
  return (
    <Prefetch workspace={workspace} space={space as Space} queries={(trpc) => [trpc.secretShares.listIncoming.queryOptions({})]}>
      <IncomingShares />
    </Prefetch>
  );
}
