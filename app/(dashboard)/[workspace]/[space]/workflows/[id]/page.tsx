import type { Metadata } from 'next';
import { Prefetch } from '#app/prefetch.tsx';
import type { Space } from '#components/ui/test-band.tsx';
import { WorkflowView } from '#components/workflows/workflow-view.tsx';

export const metadata: Metadata = { title: 'Workflow' };

export default async function WorkflowPage({ params }: { params: Promise<{ workspace: string; space: string; id: string }> }) {
  const { workspace, space, id } = await params;
  return (
    <Prefetch workspace={workspace} space={space as Space} queries={(trpc) => [trpc.workflows.get.queryOptions({ id })]}>
      <WorkflowView id={id} />
    </Prefetch>
  );
}
