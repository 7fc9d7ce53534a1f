import type { Metadata } from 'next';
import { NuqsAdapter } from 'nuqs/adapters/next/app';
import { Prefetch } from '#app/prefetch.tsx';
import { NotificationsView } from '#components/notifications/notifications-view.tsx';

export const metadata: Metadata = { title: 'Notifications' };

export default async function NotificationsPage({ params }: { params: Promise<{ workspace: string }> }) {
  const { workspace } = await params;
  return (
    <Prefetch workspace={workspace} space="live" queries={(trpc) => [trpc.notifications.list.queryOptions({ page: 1, per_page: 50 })]}>
      <NuqsAdapter>
        <NotificationsView />
      </NuqsAdapter>
    </Prefetch>
  );
}
