import type { Metadata } from 'next';
import { createLoader } from 'nuqs/server';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { secretListInput, secretSearch } from '#components/secrets/list-search.ts';
import { SecretList } from '#components/secrets/secret-list.tsx';
import type { Space } from '#components/ui/test-band.tsx';

export const metadata: Metadata = { title: 'Secrets' };

const load = createLoader(secretSearch);

export default async function SecretsPage({ params, searchParams }: SpacePage) {
  const { workspace, space } = await params;
  const search = await load(searchParams);
  return (
    <Prefetch
      workspace={workspace}
      space={space as Space}
      queries={(trpc) => [
        trpc.secrets.list.queryOptions(secretListInput(search)),
        trpc.environments.list.queryOptions({}),
        trpc.collections.list.queryOptions({ per_page: 100 }),
        trpc.account.plan.queryOptions({}),
      ]}
    >
      <SecretList />
    </Prefetch>
  );
}
