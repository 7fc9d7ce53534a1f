import type { Metadata } from 'next';
import { Prefetch } from '#app/prefetch.tsx';
import type { Space } from '#components/ui/test-band.tsx';
import { VaultView } from '#components/vaults/vault-view.tsx';

export const metadata: Metadata = { title: 'Vault' };

export default async function VaultPage({ params }: { params: Promise<{ workspace: string; space: string; id: string }> }) {
  const { workspace, space, id } = await params;
  const ref = decodeURIComponent(id);
  return (
    <Prefetch workspace={workspace} space={space as Space} queries={(trpc) => [trpc.vaults.get.queryOptions({ vault: ref })]}>
      <VaultView id={ref} />
    </Prefetch>
  );
}
