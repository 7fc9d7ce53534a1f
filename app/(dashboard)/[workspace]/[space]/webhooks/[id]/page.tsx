import type { Metadata } from 'next';
import { Prefetch } from '#app/prefetch.tsx';
import type { Space } from '#components/ui/test-band.tsx';
import { WebhookView } from '#components/webhooks/webhook-view.tsx';

export const metadata: Metadata = { title: 'Webhook' };

export default async function WebhookPage({ params }: { params: Promise<{ workspace: string; space: string; id: string }> }) {
  const { workspace, space, id } = await params;
  return (
    <Prefetch workspace={workspace} space={space as Space} queries={(trpc) => [trpc.webhooks.get.queryOptions({ id })]}>
      <WebhookView id={id} />
    </Prefetch>
  );
}
