import type { Metadata } from 'next';
import { Prefetch } from '#app/prefetch.tsx';
import type { Space } from '#components/ui/test-band.tsx';
import { RunView } from '#components/workflows/run-view.tsx';

export const metadata: Metadata = { title: 'Run' };

export default async function RunPage({ params }: { params: Promise<{ workspace: string; space: string; id: string }> }) {
  const { workspace, space, id } = await params;
  return (
    <Prefetch workspace={workspace} space={space as Space} queries={(trpc) => [trpc.workflows.inspectExecution.queryOptions({ id })]}>
      <RunView id={id} />
    </Prefetch>
  );
}
