import type { Metadata } from 'next';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { MigrationList } from '#components/migrations/migration-list.tsx';
import type { Space } from '#components/ui/test-band.tsx';

export const metadata: Metadata = { title: 'Migrations' };

export default async function MigrationsPage({ params }: SpacePage) {
  const { workspace, space } = await params;
  return (
    <Prefetch workspace={workspace} space={space as Space} queries={(trpc) => [trpc.migrations.list.queryOptions({})]}>
      <MigrationList />
    </Prefetch>
  );
}
