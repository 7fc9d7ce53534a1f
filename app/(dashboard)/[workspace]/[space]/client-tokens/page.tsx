import type { Metadata } from 'next';
import { createLoader } from 'nuqs/server';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { tokenQuery, tokenSearch } from '#components/client-tokens/list-search.ts';
import { TokenList } from '#components/client-tokens/token-list.tsx';

export const metadata: Metadata = { title: 'Client tokens' };

const load = createLoader(tokenSearch);

export default async function ClientTokensPage({ params, searchParams }: SpacePage) {
  const { workspace, space } = await params;
  const search = await load(searchParams);
  return (
    <Prefetch workspace={workspace} space={space} queries={(trpc) => [trpc.clientTokens.list.queryOptions(tokenQuery(search))]}>
      <TokenList />
    </Prefetch>
  );
}
