import type { Metadata } from 'next';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { ClientList } from '#components/oauth-clients/client-list.tsx';
import type { Space } from '#components/ui/test-band.tsx';

export const metadata: Metadata = { title: 'OAuth clients' };

export default async function OAuthClientsPage({ params }: SpacePage) {
  const { workspace, space } = await params;
  return (
    <Prefetch
      workspace={workspace}
      space={space as Space}
      queries={(trpc) => [trpc.oauthClients.list.queryOptions({}), trpc.account.plan.queryOptions({})]}
    >
      <ClientList />
    </Prefetch>
  );
}
