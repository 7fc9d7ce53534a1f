'use client';

import { ScrollText } from 'lucide-react';
import type { ReactNode } from 'react';
import { usePath } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { LoadMore } from '#components/ui/pagination.tsx';
import { usePanel } from '#components/ui/panel.ts';
import { CallList } from './call-list.tsx';
import { InspectorSheet } from './lazy-inspector.ts';
import { useLogs } from './use-logs.ts';

/** The calls of one client or one collection in the last 24 hours; the log page has the rest of time. `children` says which calls count. */
export function ResourceCalls({ of, children }: { of: { client_id: string } | { collection_id: string }; children: ReactNode }) {
  const path = usePath();
  const peek = usePanel('peek');
  const pages = useLogs(of);
  const rows = pages.data?.pages.flatMap((page) => page.logs);
  if (pages.isError) return <QueryError query={pages} what="Calls" />;
  const inLogs = (
    <LinkButton size="sm" href={path(`/logs?${new URLSearchParams({ ...of, range: '30d' }).toString()}`)}>
      View older calls in Logs
    </LinkButton>
  );
  return (
    <>
      {rows?.length === 0 ? (
        <EmptyState icon={<ScrollText />} title="No calls in the last 24 hours" action={inLogs}>
          {children}
        </EmptyState>
      ) : (
        <CallList
          rows={rows}
          openId={peek.id ?? undefined}
          onOpen={(log) => peek.open(log.request_id)}
          footer={<LoadMore pages={pages} endNote={inLogs} />}
        />
      )}
      <InspectorSheet requestId={peek.id} onClose={peek.close} />
    </>
  );
}
