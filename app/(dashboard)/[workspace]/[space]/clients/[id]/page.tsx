import type { Metadata } from 'next';
import { Prefetch } from '#app/prefetch.tsx';
import { ClientView } from '#components/clients/client-view.tsx';
import type { Space } from '#components/ui/test-band.tsx';

export const metadata: Metadata = { title: 'Client' };

export default async function ClientPage({ params }: { params: Promise<{ workspace: string; space: string; id: string }> }) {
  const { workspace, space, id } = await params;
  return (
    <Prefetch
      workspace={workspace}
      space={space as Space}
      queries={(trpc) => [trpc.clients.get.queryOptions({ id }), trpc.clients.credentials.queryOptions({ id })]}
    >
      <ClientView id={id} />
    </Prefetch>
  );
}
