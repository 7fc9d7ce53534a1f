import type { Metadata } from 'next';
import { createLoader } from 'nuqs/server';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import type { Space } from '#components/ui/test-band.tsx';
import { vaultListInput, vaultSearch } from '#components/vaults/list-search.ts';
import { VaultGrid } from '#components/vaults/vault-grid.tsx';

export const metadata: Metadata = { title: 'Vaults' };

const search = createLoader(vaultSearch);

export default async function VaultsPage({ params, searchParams }: SpacePage) {
  const { workspace, space } = await params;
  const { page } = await search(searchParams);
  return (
    <Prefetch
      workspace={workspace}
      space={space as Space}
      queries={(trpc) => [
        trpc.vaults.list.queryOptions(vaultListInput(page)),
        trpc.vaults.usage.queryOptions({}),
        trpc.account.plan.queryOptions({}),
      ]}
    >
      <VaultGrid />
    </Prefetch>
  );
}
