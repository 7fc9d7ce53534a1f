import type { Metadata } from 'next';
import { createLoader } from 'nuqs/server';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { spendSearch } from '#components/ai-spend/list-search.ts';
import { SpendView } from '#components/ai-spend/spend-view.tsx';
import type { Space } from '#components/ui/test-band.tsx';

export const metadata: Metadata = { title: 'Spend' };

const load = createLoader(spendSearch);

export default async function SpendPage({ params, searchParams }: SpacePage) {
  const { workspace, space } = await params;
  const { tab, span } = await load(searchParams);
  return (
    <Prefetch
      workspace={workspace}
      space={space as Space}
      queries={(trpc) => (tab === 'usage' ? [trpc.aiSpend.usage.queryOptions({ period: span, granularity: 'day' })] : [])}
    >
      <SpendView />
    </Prefetch>
  );
}
