import type { Metadata } from 'next';
import { NuqsAdapter } from 'nuqs/adapters/next/app';
import { createLoader, type SearchParams } from 'nuqs/server';
import { Prefetch } from '#app/prefetch.tsx';
import { memberListInput, memberSearch } from '#components/team/list-search.ts';
import { TeamView } from '#components/team/team-view.tsx';

export const metadata: Metadata = { title: 'Team' };

const load = createLoader(memberSearch);

export default async function TeamPage({
  params,
  searchParams,
}: {
  params: Promise<{ workspace: string }>;
  searchParams: Promise<SearchParams>;
}) {
  const [{ workspace }, search] = await Promise.all([params, load(searchParams)]);
  return (
    <NuqsAdapter>
      <Prefetch
        workspace={workspace}
        space="live"
        queries={(trpc) => [trpc.team.list.queryOptions(memberListInput(search)), trpc.team.invitations.queryOptions({})]}
      >
        <TeamView />
      </Prefetch>
    </NuqsAdapter>
  );
}
