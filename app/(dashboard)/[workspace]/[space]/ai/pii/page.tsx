import type { Metadata } from 'next';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { PiiPage } from '#components/ai-controls/pii-page.tsx';

export const metadata: Metadata = { title: 'PII' };

export default async function PiiPolicyPage({ params }: SpacePage) {
  const { workspace, space } = await params;
  return (
    <Prefetch
      workspace={workspace}
      space={space}
      queries={(trpc) => [trpc.aiControls.piiPolicies.queryOptions({ per_page: 100 }), trpc.account.plan.queryOptions({})]}
    >
      <PiiPage />
    </Prefetch>
  );
}
