import type { Metadata } from 'next';
import { Prefetch } from '#app/prefetch.tsx';
import { BillingView } from '#components/billing/billing-view.tsx';

export const metadata: Metadata = { title: 'Billing' };

export default async function BillingPage({ params }: { params: Promise<{ workspace: string }> }) {
  const { workspace } = await params;
  return (
    <Prefetch
      workspace={workspace}
      space="live"
      queries={(trpc) => [trpc.billing.get.queryOptions({}), trpc.account.plan.queryOptions({})]}
    >
      <BillingView />
    </Prefetch>
  );
}
