import type { Metadata } from 'next';
import { Prefetch } from '#app/prefetch.tsx';
import { ClientView } from '#components/oauth-clients/client-view.tsx';
import type { Space } from '#components/ui/test-band.tsx';

export const metadata: Metadata = { title: 'OAuth client' };

export default async function OAuthClientPage({ params }: { params: Promise<{ workspace: string; space: string; id: string }> }) {
  const { workspace, space, id } = await params;
  const ref = decodeURIComponent(id);
  return (
    <Prefetch workspace={workspace} space={space as Space} queries={(trpc) => [trpc.oauthClients.get.queryOptions({ id: ref })]}>
      <ClientView id={ref} />
    </Prefetch>
  );
}
