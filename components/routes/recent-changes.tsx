'use client';

import { Sentence } from '#components/audit/sentence.tsx';
import { useEntries } from '#components/audit/use-entries.ts';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Time } from '#components/ui/time.tsx';

/** The newest audit entries as a short list: of everything, or about one thing. */
export function RecentChanges({ resourceId, most = 5 }: { resourceId?: string; most?: number }) {
  // Of everything: what people, keys and jobs did. The log's own anchors come every quarter of an hour and would be all one sees.
  const pages = useEntries(resourceId ? { resource_id: resourceId } : { store: 'general' }, most);
  if (pages.isError) return <QueryError query={pages} what="Changes" />;
  if (!pages.data) return <Skeleton lines={3} label="Loading changes" />;
  const entries = pages.data.pages.flatMap((page) => page.entries);
  if (entries.length === 0) return <p className="text-ink-3">No changes yet.</p>;
  return (
    <ol className="flex flex-col">
      {entries.map((entry) => (
        <li
          key={entry.id}
          className="flex items-start justify-between gap-3 border-line border-b py-2 first:pt-0 last:border-b-0 last:pb-0"
        >
          <Sentence entry={entry} />
          <Time value={entry.created_at} className="shrink-0 text-ink-3 text-xs" />
        </li>
      ))}
    </ol>
  );
}
