import type { Metadata } from 'next';
import { createLoader } from 'nuqs/server';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { KeyList } from '#components/api-keys/key-list.tsx';
import { keyListInput, keySearch } from '#components/api-keys/list-search.ts';
import type { Space } from '#components/ui/test-band.tsx';

export const metadata: Metadata = { title: 'API keys' };

const load = createLoader(keySearch);

export default async function ApiKeysPage({ params, searchParams }: SpacePage) {
  const { workspace, space } = await params;
  const search = await load(searchParams);
  return (
    <Prefetch
      workspace={workspace}
      space={space as Space}
      queries={(trpc) => [
        trpc.apiKeys.list.queryOptions(keyListInput(search)),
        trpc.account.plan.queryOptions({}),
        ...(search.peek ? [trpc.apiKeys.get.queryOptions({ id: search.peek })] : []),
      ]}
    >
      <KeyList />
    </Prefetch>
  );
}
