import type { Metadata } from 'next';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { KeyList } from '#components/crypto-keys/key-list.tsx';
import type { Space } from '#components/ui/test-band.tsx';

export const metadata: Metadata = { title: 'Crypto keys' };

export default async function CryptoKeysPage({ params }: SpacePage) {
  const { workspace, space } = await params;
  return (
    <Prefetch
      workspace={workspace}
      space={space as Space}
      queries={(trpc) => [
        trpc.cryptoKeys.list.queryOptions({}),
        trpc.cryptoKeys.usage.queryOptions({}),
        trpc.account.plan.queryOptions({}),
      ]}
    >
      <KeyList />
    </Prefetch>
  );
}
