import type { Metadata } from 'next';
import { Prefetch } from '#app/prefetch.tsx';
import { KeysView } from '#components/settings/keys-view.tsx';

export const metadata: Metadata = { title: 'Tenant KMS' };

export default async function KeysPage({ params }: { params: Promise<{ workspace: string }> }) {
  const { workspace } = await params;
  return (
    <Prefetch
      workspace={workspace}
      space="live"
      queries={(trpc) => [trpc.tenantKeys.list.queryOptions({}), trpc.tenantKeys.state.queryOptions({})]}
    >
      <KeysView />
    </Prefetch>
  );
}
