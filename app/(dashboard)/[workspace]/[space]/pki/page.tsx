import type { Metadata } from 'next';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { RootList } from '#components/pki/root-list.tsx';
import type { Space } from '#components/ui/test-band.tsx';

export const metadata: Metadata = { title: 'Certificate authority' };

export default async function CertificateAuthorityPage({ params }: SpacePage) {
  const { workspace, space } = await params;
  return (
    <Prefetch
      workspace={workspace}
      space={space as Space}
      queries={(trpc) => [trpc.pki.listRoots.queryOptions({}), trpc.pki.summaries.queryOptions({}), trpc.account.plan.queryOptions({})]}
    >
      <RootList />
    </Prefetch>
  );
}
