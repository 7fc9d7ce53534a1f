'use client';

import { ScrollText } from 'lucide-react';
import { parseAsString, useQueryState } from 'nuqs';
import { CallList } from '#components/logs/call-list.tsx';
import { InspectorSheet } from '#components/logs/inspector.tsx';
import { useLogs } from '#components/logs/use-logs.ts';
import { usePath } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { LoadMore } from '#components/ui/pagination.tsx';
import { EmptyState } from '#components/ui/states.tsx';

/** The calls of one client in the last 24 hours; the log page has the rest of time. */
export function ClientCalls({ clientId }: { clientId: string }) {
  const path = usePath();
  const [peek, setPeek] = useQueryState('peek', parseAsString);
  const pages = useLogs({ client_id: clientId });
  const rows = pages.data?.pages.flatMap((page) => page.logs);
  if (pages.isError) return <QueryError query={pages} what="The calls" />;
  const inLogs = (
    <LinkButton size="sm" href={path(`/logs?client_id=${clientId}&range=30d`)}>
      Older calls in Logs
    </LinkButton>
  );
  return (
    <>
      {rows?.length === 0 ? (
        <EmptyState icon={<ScrollText />} title="No calls in the last 24 hours" action={inLogs}>
          A call counts for this client when it comes from one of its addresses.
        </EmptyState>
      ) : (
        <CallList
          rows={rows}
          openId={peek ?? undefined}
          onOpen={(log) => void setPeek(log.request_id)}
          footer={
            <LoadMore
              hasMore={pages.hasNextPage}
              loading={pages.isFetchingNextPage}
              onMore={() => void pages.fetchNextPage()}
              endNote={inLogs}
            />
          }
        />
      )}
      <InspectorSheet requestId={peek} onClose={() => void setPeek(null)} />
    </>
  );
}
