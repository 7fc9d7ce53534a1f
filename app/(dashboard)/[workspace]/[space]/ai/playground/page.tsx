import type { Metadata } from 'next';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { ALL_GATEWAYS } from '#components/ai-gateways/list-search.ts';
import { PlaygroundView } from '#components/ai-playground/playground-view.tsx';

export const metadata: Metadata = { title: 'Playground' };

export default async function PlaygroundPage({ params }: SpacePage) {
  const { workspace, space } = await params;
  return (
    <Prefetch workspace={workspace} space={space} queries={(trpc) => [trpc.aiGateways.list.queryOptions(ALL_GATEWAYS)]}>
      <PlaygroundView />
    </Prefetch>
  );
}
