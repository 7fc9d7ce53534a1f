import type { Metadata } from 'next';
import { Prefetch } from '#app/prefetch.tsx';
import { RootView } from '#components/pki/root-view.tsx';
import type { Space } from '#components/ui/test-band.tsx';

export const metadata: Metadata = { title: 'Root' };

export default async function RootPage({ params }: { params: Promise<{ workspace: string; space: string; id: string }> }) {
  const { workspace, space, id } = await params;
  const ref = decodeURIComponent(id);
  return (
    <Prefetch workspace={workspace} space={space as Space} queries={(trpc) => [trpc.pki.getRoot.queryOptions({ name: ref })]}>
      <RootView id={ref} />
    </Prefetch>
  );
}
