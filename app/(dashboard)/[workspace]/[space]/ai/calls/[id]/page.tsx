import type { Metadata } from 'next';
import { Prefetch } from '#app/prefetch.tsx';
import { CallView } from '#components/ai-spend/call-view.tsx';
import type { Space } from '#components/ui/test-band.tsx';

export const metadata: Metadata = { title: 'AI call' };

export default async function AiCallPage({ params }: { params: Promise<{ workspace: string; space: string; id: string }> }) {
  const { workspace, space, id } = await params;
  const request_id = decodeURIComponent(id);
  return (
    <Prefetch workspace={workspace} space={space as Space} queries={(trpc) => [trpc.aiSpend.getRequest.queryOptions({ request_id })]}>
      <CallView id={request_id} />
    </Prefetch>
  );
}
