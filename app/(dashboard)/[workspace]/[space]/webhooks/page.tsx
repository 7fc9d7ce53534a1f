import type { Metadata } from 'next';
import { createLoader } from 'nuqs/server';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import type { Space } from '#components/ui/test-band.tsx';
import { webhookListInput, webhookSearch } from '#components/webhooks/list-search.ts';
import { WebhookList } from '#components/webhooks/webhook-list.tsx';

export const metadata: Metadata = { title: 'Webhooks' };

const search = createLoader(webhookSearch);

export default async function WebhooksPage({ params, searchParams }: SpacePage) {
  const { workspace, space } = await params;
  const asked = await search(searchParams);
  return (
    <Prefetch
      workspace={workspace}
      space={space as Space}
      queries={(trpc) => [
        trpc.webhooks.list.queryOptions(webhookListInput(asked)),
        trpc.webhooks.usage.queryOptions({}),
        trpc.account.plan.queryOptions({}),
      ]}
    >
      <WebhookList />
    </Prefetch>
  );
}
