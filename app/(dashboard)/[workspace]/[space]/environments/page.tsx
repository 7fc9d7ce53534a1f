import type { Metadata } from 'next';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { EnvironmentList } from '#components/environments/environment-list.tsx';

export const metadata: Metadata = { title: 'Environments' };

export default async function EnvironmentsPage({ params }: SpacePage) {
  const { workspace, space } = await params;
  return (
    <Prefetch
      workspace={workspace}
      space={space}
      queries={(trpc) => [
        trpc.environments.list.queryOptions({}),
        trpc.secrets.list.queryOptions({ per_page: 100 }),
        trpc.account.plan.queryOptions({}),
      ]}
    >
      <EnvironmentList />
    </Prefetch>
  );
}
