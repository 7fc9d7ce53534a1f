'use client';

import { History } from 'lucide-react';
import { QueryError } from '#components/trpc/query-error.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { LoadMore } from '#components/ui/pagination.tsx';
import { usePanel } from '#components/ui/panel.ts';
import { EntryPanel } from './entry-panel.tsx';
import { lineOf } from './entry-text.ts';
import { address, what, when } from './timeline-columns.tsx';
import { useEntries } from './use-entries.ts';

const columns = [what, when, address('md')];

/** The Activity tab of a resource: the audit log about it. `entry` in the address opens one. */
export function Activity({
  resource_type,
  resource_id,
}: {
  /** Absent where entries about one thing carry several types: a route and its environments. */ resource_type?: string;
  resource_id: string;
}) {
  const entry = usePanel('entry');
  const pages = useEntries({ ...(resource_type ? { resource_type } : {}), resource_id });
  if (pages.isError) return <QueryError query={pages} what="Activity" />;
  const rows = pages.data?.pages.flatMap((page) => page.entries);
  return (
    <>
      <DataTable
        columns={columns}
        rows={rows}
        rowId={(row) => row.id}
        rowName={lineOf}
        caption="Activity"
        onOpen={(row) => entry.open(row.id)}
        openId={entry.id ?? undefined}
        skeletonRows={4}
        empty={
          <EmptyState icon={<History />} title="No activity yet">
            Changes appear here, with who made them and from where.
          </EmptyState>
        }
      />
      {rows && rows.length > 0 && <LoadMore pages={pages} endNote={<RetentionNote days={pages.data?.pages[0]?.retention_days} />} />}
      <EntryPanel id={entry.id} onClose={entry.close} />
    </>
  );
}

/** What stands at the end of the list, since older entries may be gone. */
export function RetentionNote({ days }: { days: number | null | undefined }) {
  if (days === undefined) return null;
  return (
    <span>{days === null ? 'Entries are kept forever.' : `Entries are kept for ${days} days. Critical entries are kept forever.`}</span>
  );
}
