import type { Metadata } from 'next';
import { NuqsAdapter } from 'nuqs/adapters/next/app';
import { createLoader } from 'nuqs/server';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { revealListInput, revealSearch } from '#components/reveals/list-search.ts';
import { RevealLog } from '#components/reveals/reveal-log.tsx';

export const metadata: Metadata = { title: 'Reveal log' };

const load = createLoader(revealSearch);

export default async function RevealsPage({
  params,
  searchParams,
}: Pick<SpacePage, 'searchParams'> & { params: Promise<{ workspace: string }> }) {
  const { workspace } = await params;
  const search = await load(searchParams);
  return (
    <Prefetch
      workspace={workspace}
      space="live"
      queries={(trpc) => [
        trpc.reveals.list.queryOptions(revealListInput(search)),
        trpc.reveals.people.queryOptions({}),
        trpc.account.settings.queryOptions({}),
        trpc.account.plan.queryOptions({}),
      ]}
    >
      <NuqsAdapter>
        <RevealLog />
      </NuqsAdapter>
    </Prefetch>
  );
}
