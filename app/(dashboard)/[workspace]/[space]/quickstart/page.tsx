import type { Metadata } from 'next';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { QuickstartView } from '#components/quickstart/quickstart-view.tsx';

export const metadata: Metadata = { title: 'Quickstart' };

export default async function QuickstartPage({ params }: SpacePage) {
  const { workspace, space } = await params;
  return (
    <Prefetch
      workspace={workspace}
      space={space}
      queries={(trpc) => [trpc.routes.list.queryOptions({ enabled: true, per_page: 50, sort: 'created_at', order: 'asc' })]}
    >
      <QuickstartView />
    </Prefetch>
  );
}
