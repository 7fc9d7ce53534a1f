import type { Metadata } from 'next';
import { Prefetch } from '#app/prefetch.tsx';
import { ConnectionList } from '#components/dyn-db/connection-list.tsx';
import type { Space } from '#components/ui/test-band.tsx';

export const metadata: Metadata = { title: 'Database credentials' };

export default async function DatabaseCredentialsPage({ params }: { params: Promise<{ workspace: string; space: string }> }) {
  const { workspace, space } = await params;
  return (
    <Prefetch
      workspace={workspace}
      space={space as Space}
      queries={(trpc) => [trpc.dynDb.list.queryOptions({}), trpc.account.plan.queryOptions({})]}
    >
      <ConnectionList />
    </Prefetch>
  );
}
