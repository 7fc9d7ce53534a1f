import type { Metadata } from 'next';
import { Prefetch } from '#app/prefetch.tsx';
import { WorkspaceSettings } from '#components/settings/workspace-settings.tsx';
import { addressesOf } from '#server/trpc/frame.ts';

export const metadata: Metadata = { title: 'Workspace' };

export default async function WorkspacePage({ params }: { params: Promise<{ workspace: string }> }) {
  const { workspace } = await params;
  return (
    <Prefetch
      workspace={workspace}
      space="live"
      queries={(trpc) => [trpc.account.get.queryOptions({}), trpc.account.settings.queryOptions({})]}
    >
      <WorkspaceSettings addresses={{ live: addressesOf(workspace, 'live'), test: addressesOf(workspace, 'test') }} />
    </Prefetch>
  );
}
