import type { Metadata } from 'next';
import { createLoader } from 'nuqs/server';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import type { Space } from '#components/ui/test-band.tsx';
import { workflowListInput, workflowSearch } from '#components/workflows/list-search.ts';
import { WorkflowList } from '#components/workflows/workflow-list.tsx';

export const metadata: Metadata = { title: 'Workflows' };

const search = createLoader(workflowSearch);

export default async function WorkflowsPage({ params, searchParams }: SpacePage) {
  const { workspace, space } = await params;
  const asked = await search(searchParams);
  return (
    <Prefetch
      workspace={workspace}
      space={space as Space}
      queries={(trpc) => [
        trpc.workflows.list.queryOptions(workflowListInput(asked)),
        trpc.workflows.usage.queryOptions({}),
        trpc.workflows.operationsUsed.queryOptions({}),
        trpc.account.plan.queryOptions({}),
      ]}
    >
      <WorkflowList />
    </Prefetch>
  );
}
