import type { Metadata } from 'next';
import { Prefetch } from '#app/prefetch.tsx';
import { UsageView } from '#components/settings/usage-view.tsx';

export const metadata: Metadata = { title: 'Usage' };

export default async function UsagePage({ params }: { params: Promise<{ workspace: string }> }) {
  const { workspace } = await params;
  return (
    <Prefetch
      workspace={workspace}
      space="live"
      queries={(trpc) => [trpc.account.plan.queryOptions({}), trpc.account.usage.queryOptions({})]}
    >
      <UsageView />
    </Prefetch>
  );
}
