import type { Metadata } from 'next';
import { createLoader } from 'nuqs/server';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { InboundList } from '#components/inbound-webhooks/inbound-list.tsx';
import { inboundListInput, inboundSearch } from '#components/inbound-webhooks/list-search.ts';

export const metadata: Metadata = { title: 'Inbound webhooks' };

const search = createLoader(inboundSearch);

export default async function InboundPage({ params, searchParams }: SpacePage) {
  const { workspace, space } = await params;
  const asked = await search(searchParams);
  return (
    <Prefetch
      workspace={workspace}
      space={space}
      queries={(trpc) => [trpc.inboundWebhooks.list.queryOptions(inboundListInput(asked)), trpc.account.plan.queryOptions({})]}
    >
      <InboundList />
    </Prefetch>
  );
}
