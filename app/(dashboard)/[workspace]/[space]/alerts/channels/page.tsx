import type { Metadata } from 'next';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { ChannelList } from '#components/alerts/channel-list.tsx';

export const metadata: Metadata = { title: 'Alert channels' };

export default async function AlertChannelsPage({ params }: SpacePage) {
  const { workspace, space } = await params;
  return (
    <Prefetch
      workspace={workspace}
      space={space}
      queries={(trpc) => [trpc.alertChannels.list.queryOptions({}), trpc.account.plan.queryOptions({})]}
    >
      <ChannelList />
    </Prefetch>
  );
}
