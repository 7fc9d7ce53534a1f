import type { Metadata } from 'next';
import { createLoader } from 'nuqs/server';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { AuditView } from '#components/audit/audit-view.tsx';
import { auditFilters, auditSearch } from '#components/audit/list-search.ts';
import type { Space } from '#components/ui/test-band.tsx';

export const metadata: Metadata = { title: 'Audit' };

const load = createLoader(auditSearch);

export default async function AuditPage({ params, searchParams }: SpacePage) {
  const { workspace, space } = await params;
  const search = await load(searchParams);
  return (
    <Prefetch
      workspace={workspace}
      space={space as Space}
      queries={(trpc) =>
        search.tab === 'timeline'
          ? [trpc.auditLogs.browse.queryOptions(auditFilters(search))]
          : [trpc.auditLogs.critical.queryOptions({ limit: 100 })]
      }
    >
      <AuditView />
    </Prefetch>
  );
}
