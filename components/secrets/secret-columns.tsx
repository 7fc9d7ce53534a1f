import { Award, KeyRound, Link2 } from 'lucide-react';
import type { Traffic } from '#components/logs/use-traffic.ts';
import { Badge } from '#components/ui/badge.tsx';
import { counted } from '#components/ui/numbers.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { Coverage, type EnvironmentLook } from './coverage.tsx';
import type { SecretRow } from './secret-row.ts';
import { SecretState } from './secret-state.tsx';
import { ShareBadges } from './share-badges.tsx';

const kinds = {
  string: { icon: KeyRound, label: 'String' },
  oauth2: { icon: Link2, label: 'OAuth2' },
  certificate: { icon: Award, label: 'Certificate' },
} as const;

/** What kind of secret it is, as an icon and a word. */
export function SecretKind({ type }: { type: SecretRow['secret_type'] }) {
  const { icon: Icon, label } = kinds[type];
  return (
    <span className="inline-flex items-center gap-1.5 text-ink-2">
      <Icon aria-hidden className="size-3.5 text-ink-3" /> {label}
    </span>
  );
}

export type ListedSecret = SecretRow & { traffic: Traffic | undefined };
const column = columnsFor<ListedSecret>();

/** The columns of the list of secrets. */
export const secretColumns = (environments: readonly EnvironmentLook[] | undefined, collectionName: (id: string) => string | undefined) => [
  column.accessor('name', {
    header: 'Name',
    enableSorting: true,
    meta: { cap: '18rem' },
    cell: ({ row }) => <span className="font-mono text-xs">{row.original.name}</span>,
  }),
  column.accessor('secret_type', {
    header: 'Type',
    meta: { hideBelow: 'lg' },
    cell: ({ row }) => <SecretKind type={row.original.secret_type} />,
  }),
  column.accessor('collection_id', {
    header: 'Collection',
    meta: { hideBelow: 'lg' },
    cell: ({ getValue }) => (getValue() ? (collectionName(getValue() ?? '') ?? '…') : <span className="text-ink-3">—</span>),
  }),
  column.accessor('environment_names', {
    header: 'Values',
    cell: ({ row }) => <Coverage environments={environments} set={row.original.environment_names} />,
  }),
  column.display({
    id: 'state',
    header: 'Status',
    meta: { hideBelow: 'sm' },
    cell: ({ row }) => (
      <span className="flex flex-wrap items-center gap-1.5">
        <SecretState secret={row.original} />
        <ShareBadges secret={row.original} />
      </span>
    ),
  }),
  column.accessor('reference_count', {
    header: 'Used by',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) =>
      getValue() === 0 ? (
        <span className="text-ink-3">None</span>
      ) : (
        <span className="whitespace-nowrap">{counted(getValue(), 'reference')}</span>
      ),
  }),
  column.display({
    id: 'used',
    header: 'Last used',
    meta: { hideBelow: 'md' },
    cell: ({ row: { original } }) =>
      original.traffic ? <Time value={original.traffic.last_at} empty="Never" /> : <span className="text-ink-3">…</span>,
  }),
  column.accessor('tags', {
    header: 'Tags',
    meta: { hideBelow: 'xl' },
    cell: ({ row }) => (
      <span className="flex flex-wrap gap-1">
        {row.original.tags.map((tag) => (
          <Badge key={tag}>{tag}</Badge>
        ))}
      </span>
    ),
  }),
  column.accessor('created_at', {
    header: 'Created',
    enableSorting: true,
    meta: { hideBelow: 'xl' },
    cell: ({ getValue }) => <Time value={getValue()} />,
  }),
];
