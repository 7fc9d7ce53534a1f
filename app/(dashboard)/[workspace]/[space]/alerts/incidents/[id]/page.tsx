import type { Metadata } from 'next';
import { Prefetch } from '#app/prefetch.tsx';
import { IncidentView } from '#components/alerts/incident-view.tsx';

export const metadata: Metadata = { title: 'Incident' };

export default async function IncidentPage({ params }: { params: Promise<{ workspace: string; space: string; id: string }> }) {
  const { workspace, space, id } = await params;
  return (
    <Prefetch workspace={workspace} space={space} queries={(trpc) => [trpc.alerts.incident.queryOptions({ id })]}>
      <IncidentView id={id} />
    </Prefetch>
  );
}
