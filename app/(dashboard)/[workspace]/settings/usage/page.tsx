import type { Metadata } from 'next';
import { NuqsAdapter } from 'nuqs/adapters/next/app';
import { Prefetch } from '#app/prefetch.tsx';
import { UsageView } from '#components/settings/usage-view.tsx';
import { monthOf } from '#components/usage/month.ts';

export const metadata: Metadata = { title: 'Usage' };

export default async function UsagePage({ params }: { params: Promise<{ workspace: string }> }) {
  const { workspace } = await params;
  const month = monthOf(new Date().toISOString().slice(0, 7));
  return (
    <Prefetch
      workspace={workspace}
      space="live"
      queries={(trpc) => [
        trpc.account.plan.queryOptions({}),
        trpc.account.usage.queryOptions({}),
        trpc.requestLogs.days.queryOptions({ from: month.from, to: month.to, by: 'route' }),
      ]}
    >
      <NuqsAdapter>
        <UsageView />
      </NuqsAdapter>
    </Prefetch>
  );
}
