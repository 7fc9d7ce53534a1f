import type { Metadata } from 'next';
import { createLoader } from 'nuqs/server';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { ClientList } from '#components/clients/client-list.tsx';
import { clientListInput, clientSearch } from '#components/clients/list-search.ts';
import type { Space } from '#components/ui/test-band.tsx';

export const metadata: Metadata = { title: 'Clients' };

const load = createLoader(clientSearch);

export default async function ClientsPage({ params, searchParams }: SpacePage) {
  const { workspace, space } = await params;
  const search = await load(searchParams);
  return (
    <Prefetch
      workspace={workspace}
      space={space as Space}
      queries={(trpc) => [
        trpc.clients.list.queryOptions(clientListInput(search)),
        trpc.collections.list.queryOptions({ per_page: 100 }),
        trpc.account.plan.queryOptions({}),
      ]}
    >
      <ClientList />
    </Prefetch>
  );
}
