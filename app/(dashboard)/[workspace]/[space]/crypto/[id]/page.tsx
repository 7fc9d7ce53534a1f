import type { Metadata } from 'next';
import { Prefetch } from '#app/prefetch.tsx';
import { KeyView } from '#components/crypto-keys/key-view.tsx';
import type { Space } from '#components/ui/test-band.tsx';

export const metadata: Metadata = { title: 'Crypto key' };

export default async function CryptoKeyPage({ params }: { params: Promise<{ workspace: string; space: string; id: string }> }) {
  const { workspace, space, id } = await params;
  const ref = decodeURIComponent(id);
  return (
    <Prefetch workspace={workspace} space={space as Space} queries={(trpc) => [trpc.cryptoKeys.get.queryOptions({ name: ref })]}>
      <KeyView id={ref} />
    </Prefetch>
  );
}
