import type { Metadata } from 'next';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { ClientHealthView } from '#components/analytics/client-health-view.tsx';

export const metadata: Metadata = { title: 'Client health' };

export default async function ClientHealthPage({ params }: SpacePage) {
  const { workspace, space } = await params;
  return (
    <Prefetch workspace={workspace} space={space} queries={(trpc) => [trpc.requestLogs.clientHealth.queryOptions({})]}>
      <ClientHealthView />
    </Prefetch>
  );
}
