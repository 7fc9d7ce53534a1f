import type { Metadata } from 'next';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { FirewallPage } from '#components/ai-controls/firewall-page.tsx';

export const metadata: Metadata = { title: 'Firewall' };

export default async function AiFirewallPage({ params }: SpacePage) {
  const { workspace, space } = await params;
  return (
    <Prefetch
      workspace={workspace}
      space={space}
      queries={(trpc) => [
        trpc.aiControls.firewallPolicies.queryOptions({ per_page: 100, sort: 'name', order: 'asc' }),
        trpc.account.plan.queryOptions({}),
      ]}
    >
      <FirewallPage />
    </Prefetch>
  );
}
