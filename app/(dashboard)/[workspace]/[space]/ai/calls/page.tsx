import type { Metadata } from 'next';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { CallList } from '#components/ai-spend/call-list.tsx';
import type { Space } from '#components/ui/test-band.tsx';

export const metadata: Metadata = { title: 'AI calls' };

export default async function AiCallsPage({ params }: SpacePage) {
  const { workspace, space } = await params;
  return (
    <Prefetch workspace={workspace} space={space as Space} queries={() => []}>
      <CallList />
    </Prefetch>
  );
}
