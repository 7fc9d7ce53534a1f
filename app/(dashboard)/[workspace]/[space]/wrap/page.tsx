import type { Metadata } from 'next';
import { createLoader } from 'nuqs/server';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { credentialQuery, wrapSearch } from '#components/wrap/list-search.ts';
import { WrapView } from '#components/wrap/wrap-view.tsx';

export const metadata: Metadata = { title: 'Wrap credentials' };

const load = createLoader(wrapSearch);

export default async function WrapPage({ params, searchParams }: SpacePage) {
  const { workspace, space } = await params;
  const { tab, page } = await load(searchParams);
  return (
    <Prefetch
      workspace={workspace}
      space={space}
      queries={(trpc) => [
        tab === 'tokens' ? trpc.wrap.listTokens.queryOptions({}) : trpc.wrap.listCredentials.queryOptions(credentialQuery({ page })),
      ]}
    >
      <WrapView />
    </Prefetch>
  );
}
