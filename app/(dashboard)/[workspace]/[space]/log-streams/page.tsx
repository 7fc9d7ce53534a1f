import type { Metadata } from 'next';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { LogStreamList } from '#components/log-streams/stream-list.tsx';

export const metadata: Metadata = { title: 'Log streams' };

export default async function LogStreamsPage({ params }: SpacePage) {
  const { workspace, space } = await params;
  return (
    <Prefetch
      workspace={workspace}
      space={space}
      queries={(trpc) => [trpc.logStreams.list.queryOptions({}), trpc.account.plan.queryOptions({})]}
    >
      <LogStreamList />
    </Prefetch>
  );
}
