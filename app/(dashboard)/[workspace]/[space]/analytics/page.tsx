import type { Metadata } from 'next';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { AnalyticsView } from '#components/analytics/analytics-view.tsx';

export const metadata: Metadata = { title: 'Analytics' };

export default async function AnalyticsPage({ params }: SpacePage) {
  const { workspace, space } = await params;
  return (
    <Prefetch
      workspace={workspace}
      space={space}
      queries={(trpc) => [trpc.routes.list.queryOptions({ per_page: 100 }), trpc.environments.list.queryOptions({})]}
    >
      <AnalyticsView />
    </Prefetch>
  );
}
