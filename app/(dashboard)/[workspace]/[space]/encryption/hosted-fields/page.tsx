import type { Metadata } from 'next';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { HostedFieldsView } from '#components/encryption/hosted-fields-view.tsx';

export const metadata: Metadata = { title: 'Hosted fields' };

export default async function HostedFieldsPage({ params }: SpacePage) {
  const { workspace, space } = await params;
  return (
    <Prefetch
      workspace={workspace}
      space={space}
      queries={(trpc) => [trpc.encryption.bundle.queryOptions({}), trpc.elements.get.queryOptions({})]}
    >
      <HostedFieldsView />
    </Prefetch>
  );
}
