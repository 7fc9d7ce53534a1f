import type { Metadata } from 'next';
import { Prefetch } from '#app/prefetch.tsx';
import { DeploymentView } from '#components/deployment/deployment-view.tsx';

export const metadata: Metadata = { title: 'Deployment' };

export default async function DeploymentPage({ params }: { params: Promise<{ workspace: string }> }) {
  const { workspace } = await params;
  return (
    <Prefetch workspace={workspace} space="live" queries={(trpc) => [trpc.deployment.parity.queryOptions({})]}>
      <DeploymentView />
    </Prefetch>
  );
}
