import type { Metadata } from 'next';
import { Prefetch } from '#app/prefetch.tsx';
import { GatewayView } from '#components/ai-gateways/gateway-view.tsx';
import type { Space } from '#components/ui/test-band.tsx';

export const metadata: Metadata = { title: 'Gateway' };

export default async function GatewayPage({ params }: { params: Promise<{ workspace: string; space: string; id: string }> }) {
  const { workspace, space, id } = await params;
  return (
    <Prefetch workspace={workspace} space={space as Space} queries={(trpc) => [trpc.aiGateways.get.queryOptions({ id })]}>
      <GatewayView id={id} />
    </Prefetch>
  );
}
