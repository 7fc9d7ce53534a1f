import type { Metadata } from 'next';
import { createLoader } from 'nuqs/server';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import type { Space } from '#components/ui/test-band.tsx';
import { RunsList } from '#components/workflows/runs-list.tsx';
import { runsInput, runsSearch } from '#components/workflows/runs-search.ts';

export const metadata: Metadata = { title: 'Runs' };

const search = createLoader(runsSearch);

export default async function RunsPage({ params, searchParams }: SpacePage) {
  const { workspace, space } = await params;
  const asked = await search(searchParams);
  return (
    <Prefetch
      workspace={workspace}
      space={space as Space}
      queries={(trpc) => [trpc.workflows.browseExecutions.queryOptions(runsInput(asked)), trpc.workflows.operationsUsed.queryOptions({})]}
    >
      <RunsList />
    </Prefetch>
  );
}
