import type { Traffic } from '#components/logs/use-traffic.ts';
import { Switch } from '#components/ui/choices.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { addressIn } from '#server/domain/tenants/country.shared.ts';
import { type ClientRow, credentialsInWords, TYPES } from './client-labels.ts';
import { ClientHealth } from './health.tsx';

type Options = {
  toggle: (row: ClientRow, enabled: boolean) => void;
  readOnly: string | undefined;
  /** Undefined while the collections are not known. */
  collectionName: (id: string) => string | undefined;
};

const column = columnsFor<ClientRow & { traffic: Traffic | undefined }>();

/** The columns of the list of clients. */
export const clientColumns = ({ toggle, readOnly, collectionName }: Options) => [
  column.accessor('name', {
    header: 'Name',
    enableSorting: true,
    meta: { cap: '16rem' },
    cell: ({ row, getValue }) => (
      <>
        {getValue()}
        <span suppressHydrationWarning className="block truncate font-mono font-normal text-ink-2 text-xs sm:hidden">
          {addressIn(row.original.ip_address, row.original.ip_country)}
        </span>
      </>
    ),
  }),
  column.accessor('type', { header: 'Type', enableSorting: true, meta: { hideBelow: '2xl' }, cell: ({ getValue }) => TYPES[getValue()] }),
  column.accessor('ip_address', {
    header: 'IP address',
    enableSorting: true,
    meta: { cap: '12rem', hideBelow: 'sm' },
    cell: ({ row: { original } }) => (
      <span suppressHydrationWarning className="font-mono text-ink-2 text-xs">
        {addressIn(original.ip_address, original.ip_country)}
      </span>
    ),
  }),
  column.accessor('credential_kinds', {
    header: 'Credentials',
    meta: { hideBelow: '2xl' },
    cell: ({ getValue }) => <span className="whitespace-nowrap">{credentialsInWords(getValue())}</span>,
  }),
  column.accessor('collection_id', {
    header: 'Collection',
    meta: { hideBelow: 'xl', truncate: true, width: '8rem' },
    cell: ({ getValue }) => {
      const id = getValue();
      return id ? (collectionName(id) ?? '…') : <span className="text-ink-3">—</span>;
    },
  }),
  column.accessor('assigned_route_count', {
    header: 'Routes',
    meta: { align: 'right', hideBelow: 'lg' },
    cell: ({ getValue }) => grouped(getValue()),
  }),
  column.display({
    id: 'health',
    header: 'Health',
    meta: { hideBelow: 'sm' },
    cell: ({ row }) => <ClientHealth traffic={row.original.traffic} />,
  }),
  column.display({
    id: 'calls',
    header: 'Calls (24 h)',
    meta: { align: 'right', hideBelow: 'md' },
    cell: ({ row }) => <span className="figures">{grouped(row.original.traffic?.calls_24h) ?? '…'}</span>,
  }),
  column.accessor('last_matched_at', {
    header: 'Last seen',
    meta: { hideBelow: 'lg' },
    cell: ({ getValue }) => <Time value={getValue()} empty="Never" />,
  }),
  column.accessor('enabled', {
    header: 'On',
    cell: ({ row }) => (
      <span className="relative z-10 inline-flex">
        <Switch
          hideLabel
          label={`${row.original.name} is on`}
          checked={row.original.enabled}
          disabledReason={readOnly}
          onCheckedChange={(on) => toggle(row.original, on)}
        />
      </span>
    ),
  }),
];
