import type { Metadata } from 'next';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { DenialList } from '#components/ai-denials/denial-list.tsx';
import { DENIALS } from '#components/ai-denials/list-search.ts';

export const metadata: Metadata = { title: 'Denials' };

export default async function DenialsPage({ params }: SpacePage) {
  const { workspace, space } = await params;
  return (
    <Prefetch workspace={workspace} space={space} queries={(trpc) => [trpc.auditLogs.browse.queryOptions(DENIALS)]}>
      <DenialList />
    </Prefetch>
  );
}
