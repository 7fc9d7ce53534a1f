import type { Metadata } from 'next';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { LiveView } from '#components/analytics/live-view.tsx';

export const metadata: Metadata = { title: 'Live map' };

export default async function LivePage({ params }: SpacePage) {
  const { workspace, space } = await params;
  return (
    <Prefetch workspace={workspace} space={space} queries={(trpc) => [trpc.requestLogs.live.queryOptions({ places: false })]}>
      <LiveView />
    </Prefetch>
  );
}
