import type { Metadata } from 'next';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { EnvironmentCompare } from '#components/environments/environment-compare.tsx';

export const metadata: Metadata = { title: 'Compare environments' };

export default async function ComparePage({ params }: SpacePage) {
  const { workspace, space } = await params;
  return (
    <Prefetch
      workspace={workspace}
      space={space}
      queries={(trpc) => [trpc.environments.list.queryOptions({}), trpc.secrets.list.queryOptions({ per_page: 100 })]}
    >
      <EnvironmentCompare />
    </Prefetch>
  );
}
