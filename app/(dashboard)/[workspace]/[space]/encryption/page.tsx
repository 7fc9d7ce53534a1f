import type { Metadata } from 'next';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { EncryptionView } from '#components/encryption/encryption-view.tsx';

export const metadata: Metadata = { title: 'Encryption' };

export default async function EncryptionPage({ params }: SpacePage) {
  const { workspace, space } = await params;
  return (
    <Prefetch
      workspace={workspace}
      space={space}
      queries={(trpc) => [trpc.encryption.bundle.queryOptions({}), trpc.elements.get.queryOptions({})]}
    >
      <EncryptionView />
    </Prefetch>
  );
}
