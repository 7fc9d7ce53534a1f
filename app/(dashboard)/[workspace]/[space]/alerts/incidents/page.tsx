import type { Metadata } from 'next';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { IncidentList } from '#components/alerts/incident-list.tsx';

export const metadata: Metadata = { title: 'Incidents' };

export default async function IncidentsPage({ params }: SpacePage) {
  const { workspace, space } = await params;
  return (
    <Prefetch workspace={workspace} space={space} queries={(trpc) => [trpc.alerts.incidents.queryOptions({ page: 1, per_page: 25 })]}>
      <IncidentList />
    </Prefetch>
  );
}
