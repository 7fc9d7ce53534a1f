import type { Metadata } from 'next';
import { Prefetch } from '#app/prefetch.tsx';
import { ConnectionView } from '#components/dyn-db/connection-view.tsx';
import type { Space } from '#components/ui/test-band.tsx';

export const metadata: Metadata = { title: 'Database connection' };

export default async function DatabaseConnectionPage({ params }: { params: Promise<{ workspace: string; space: string; name: string }> }) {
  const { workspace, space, name } = await params;
  const reference = decodeURIComponent(name);
  return (
    <Prefetch workspace={workspace} space={space as Space} queries={(trpc) => [trpc.dynDb.get.queryOptions({ connection: reference })]}>
      <ConnectionView reference={reference} />
    </Prefetch>
  );
}
