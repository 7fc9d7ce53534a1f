import type { Metadata } from 'next';
import { Prefetch } from '#app/prefetch.tsx';
import { MigrationView } from '#components/migrations/migration-view.tsx';
import type { Space } from '#components/ui/test-band.tsx';

export const metadata: Metadata = { title: 'Migration' };

export default async function MigrationPage({ params }: { params: Promise<{ workspace: string; space: string; id: string }> }) {
  const { workspace, space, id } = await params;
  return (
    <Prefetch workspace={workspace} space={space as Space} queries={(trpc) => [trpc.migrations.get.queryOptions({ id })]}>
      <MigrationView id={id} />
    </Prefetch>
  );
}
