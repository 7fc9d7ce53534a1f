'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Ban, FileBadge } from 'lucide-react';
import { useQueryStates } from 'nuqs';
import { useState } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import type { MenuEntry } from '#components/ui/dropdown-menu.tsx';
import { EmptyState, NoResults } from '#components/ui/empty-states.tsx';
import { FilterBar } from '#components/ui/filter-bar.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { usePanel } from '#components/ui/panel.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { CERTIFICATE_STATUSES, certificateSearch } from './list-search.ts';
import { CERTIFICATE_STATES, type Certificate, type Root, SOURCES } from './pki-labels.ts';

const CertificateSheet = lazyOverlay(() => import('./certificate-sheet.tsx').then((module) => module.CertificateSheet), whenOpen);
const RevokeCertificateDialog = lazyOverlay(
  () => import('./revoke-dialogs.tsx').then((module) => module.RevokeCertificateDialog),
  ({ certificate }) => certificate !== undefined,
);

const column = columnsFor<Certificate>();
const columns = [
  column.accessor('subject', {
    header: 'Subject',
    meta: { cap: '18rem' },
    cell: ({ row: { original } }) => (
      <span className="block truncate">{original.subject || original.san_dns[0] || original.san_ip[0]}</span>
    ),
  }),
  column.display({
    id: 'names',
    header: 'Names',
    meta: { hideBelow: 'lg', cap: '18rem' },
    cell: ({ row: { original } }) => (
      <span className="block truncate font-mono text-xs">{[...original.san_dns, ...original.san_ip].join(', ') || '—'}</span>
    ),
  }),
  column.accessor('role_name', { header: 'Role', meta: { hideBelow: 'md' } }),
  column.accessor('source', { header: 'Made by', meta: { hideBelow: 'xl' }, cell: ({ getValue }) => SOURCES[getValue()] }),
  column.accessor('status', {
    header: 'Status',
    cell: ({ getValue }) => <Status state={CERTIFICATE_STATES[getValue()].state}>{CERTIFICATE_STATES[getValue()].label}</Status>,
  }),
  column.accessor('created_at', { header: 'Issued', meta: { hideBelow: 'md' }, cell: ({ getValue }) => <Time value={getValue()} /> }),
  column.accessor('not_after', { header: 'Expires', meta: { hideBelow: 'sm' }, cell: ({ getValue }) => <Time value={getValue()} /> }),
];

/** A serial number, with whatever stands between its digits, is looked up as one. */
const SERIAL = /^(?:0x)?[0-9a-f]{2}(?:[:\s]?[0-9a-f]{2}){7,15}$/i;

/** The certificates of a root, newest first. */
export function CertificatesTab({ root }: { root: Root }) {
  const trpc = useTRPC();
  const [search, setSearch] = useQueryStates(certificateSearch);
  const panel = usePanel('peek');
  const cannotRevoke = useForbidden('pki:revoke');
  const [revoking, setRevoking] = useState<Certificate>();
  const roles = useQuery(trpc.pki.listRoles.queryOptions({ name: root.id }));
  const { q, status, role, page } = search;
  const list = useQuery(
    trpc.pki.listCertificates.queryOptions(
      {
        name: root.id,
        page,
        per_page: 20,
        ...(q === '' ? {} : SERIAL.test(q) ? { serial_hex: q } : { subject: q }),
        ...(status ? { status } : {}),
        ...(role ? { role } : {}),
      },
      { placeholderData: keepPreviousData },
    ),
  );
  const rows = list.data?.data;
  const clear = () => void setSearch({ q: null, status: null, role: null, page: null });
  const filter = (id: 'status' | 'role', text: string) => ({
    id,
    text,
    label: text,
    onRemove: () => void setSearch({ [id]: null, page: null }),
  });
  const filters = [
    ...(status ? [filter('status', `Status: ${CERTIFICATE_STATES[status].label}`)] : []),
    ...(role ? [filter('role', `Role: ${role}`)] : []),
  ];
  const choices: MenuEntry[] = [
    { heading: 'Status' },
    ...CERTIFICATE_STATUSES.map((one) => ({
      label: CERTIFICATE_STATES[one].label,
      checked: status === one,
      onSelect: () => void setSearch({ status: one, page: null }),
    })),
    ...(roles.data && roles.data.data.length > 0
      ? [
          'separator' as const,
          { heading: 'Role' },
          ...roles.data.data.map(({ name }) => ({
            label: name,
            checked: role === name,
            onSelect: () => void setSearch({ role: name, page: null }),
          })),
        ]
      : []),
  ];
  const filtered = filters.length > 0 || q !== '';
  return (
    <>
      <FilterBar
        query={q}
        onQuery={(next) => void setSearch({ q: next || null, page: null })}
        placeholder="Filter by subject or serial number"
        filters={filters}
        choices={choices}
        onClear={clear}
      />
      {list.isError ? (
        <QueryError query={list} what="Certificates" />
      ) : rows?.length === 0 && filtered ? (
        <NoResults
          noun="certificates"
          filters={[...(q === '' ? [] : [`subject or serial number contains “${q}”`]), ...filters.map(({ text }) => text)]}
          onClear={clear}
        />
      ) : (
        <DataTable
          columns={columns}
          rows={rows}
          rowId={(row) => row.serial_hex}
          rowName={(row) => row.subject || row.serial_hex}
          caption="Certificates"
          refreshing={list.isPlaceholderData}
          onOpen={(row) => void panel.open(row.serial_hex)}
          openId={panel.id ?? undefined}
          actions={(row) => [
            {
              label: 'Revoke…',
              icon: <Ban />,
              danger: true,
              disabledReason: cannotRevoke ?? (row.status === 'revoked' ? 'Already revoked' : undefined),
              onSelect: () => setRevoking(row),
            },
          ]}
          empty={
            <EmptyState icon={<FileBadge />} title="No certificates yet">
              Issue one here, or from code with an API key that may issue under one role alone.
            </EmptyState>
          }
        />
      )}
      <Pagination noun="certificates" meta={list.data?.meta} onPage={(next) => void setSearch({ page: next })} />
      <CertificateSheet root={root} serial={panel.id ?? ''} open={panel.id !== null} onClose={() => void panel.close()} />
      <RevokeCertificateDialog root={root} certificate={revoking} onClose={() => setRevoking(undefined)} />
    </>
  );
}
