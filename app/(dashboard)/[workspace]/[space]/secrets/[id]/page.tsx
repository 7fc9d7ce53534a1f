import type { Metadata } from 'next';
import { Prefetch } from '#app/prefetch.tsx';
import { SecretView } from '#components/secrets/secret-view.tsx';
import type { Space } from '#components/ui/test-band.tsx';

export const metadata: Metadata = { title: 'Secret' };

export default async function SecretPage({ params }: { params: Promise<{ workspace: string; space: string; id: string }> }) {
  const { workspace, space, id } = await params;
  return (
    <Prefetch
      workspace={workspace}
      space={space as Space}
      queries={(trpc) => [
        trpc.secrets.get.queryOptions({ id }),
        trpc.environments.list.queryOptions({}),
        trpc.collections.list.queryOptions({ per_page: 100 }),
      ]}
    >
      <SecretView id={id} />
    </Prefetch>
  );
}
