import type { Metadata } from 'next';
import { createLoader } from 'nuqs/server';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { userQuery, userSearch } from '#components/ai-users/list-search.ts';
import { UserList } from '#components/ai-users/user-list.tsx';

export const metadata: Metadata = { title: 'AI users' };

const load = createLoader(userSearch);

export default async function AiUsersPage({ params, searchParams }: SpacePage) {
  const { workspace, space } = await params;
  const search = await load(searchParams);
  return (
    <Prefetch workspace={workspace} space={space} queries={(trpc) => [trpc.aiSpend.listUsers.queryOptions(userQuery(search))]}>
      <UserList />
    </Prefetch>
  );
}
