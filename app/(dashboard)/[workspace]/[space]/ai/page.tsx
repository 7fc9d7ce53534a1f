import type { Metadata } from 'next';
import { createLoader } from 'nuqs/server';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { GatewaysView } from '#components/ai-gateways/gateways-view.tsx';
import { gatewayQuery, gatewaySearch } from '#components/ai-gateways/list-search.ts';

export const metadata: Metadata = { title: 'Gateways' };

const load = createLoader(gatewaySearch);

export default async function GatewaysPage({ params, searchParams }: SpacePage) {
  const { workspace, space } = await params;
  const search = await load(searchParams);
  return (
    <Prefetch
      workspace={workspace}
      space={space}
      queries={(trpc) => [trpc.aiGateways.list.queryOptions(gatewayQuery(search)), trpc.account.plan.queryOptions({})]}
    >
      <GatewaysView />
    </Prefetch>
  );
}
