import { Badge } from '#components/ui/badge.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { addressIn } from '#server/domain/tenants/country.shared.ts';
import type { Entry } from './entry-text.ts';
import { Sentence } from './sentence.tsx';

const column = columnsFor<Entry>();

export const what = column.display({ id: 'what', header: 'Event', cell: ({ row }) => <Sentence entry={row.original} /> });
export const when = column.accessor('created_at', {
  header: 'Time',
  meta: { align: 'right', width: '9rem' },
  cell: ({ getValue }) => <Time value={getValue()} />,
});
/** With the country it is in, where that is known. */
export const address = (hideBelow: 'md' | 'lg') =>
  column.accessor('ip_address', {
    header: 'IP address',
    meta: { hideBelow, width: '11rem' },
    cell: ({ row: { original } }) => (
      <span suppressHydrationWarning className="font-mono text-ink-2 text-xs">
        {addressIn(original.ip_address, original.ip_country) ?? '—'}
      </span>
    ),
  });

/** The columns of the timeline. */
export const timelineColumns = [
  what,
  column.display({
    id: 'marks',
    header: () => <span className="sr-only">Labels</span>,
    meta: { hideBelow: 'md', width: '7rem' },
    cell: ({ row }) => (
      <span className="flex gap-1">
        {row.original.store === 'critical' && <Badge tone="accent">Critical</Badge>}
        {row.original.sandbox && <Badge tone="test">Test</Badge>}
      </span>
    ),
  }),
  when,
  address('lg'),
];
