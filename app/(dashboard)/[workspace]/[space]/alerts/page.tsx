import type { Metadata } from 'next';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { AlertList } from '#components/alerts/alert-list.tsx';

export const metadata: Metadata = { title: 'Alerts' };

export default async function AlertsPage({ params }: SpacePage) {
  const { workspace, space } = await params;
  return (
    <Prefetch
      workspace={workspace}
      space={space}
      queries={(trpc) => [trpc.alerts.list.queryOptions({}), trpc.alerts.sparklines.queryOptions({})]}
    >
      <AlertList />
    </Prefetch>
  );
}
