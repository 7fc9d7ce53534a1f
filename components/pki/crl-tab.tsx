'use client';

import { useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useDownload } from '#components/trpc/download.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import type { Overview, Root } from './pki-labels.ts';

type Row = Overview['crls'][number] & { subject: string };
const column = columnsFor<Row>();
const columns = [
  column.accessor('subject', {
    header: 'Issuer',
    meta: { cap: '18rem' },
    cell: ({ getValue }) => <span className="block truncate">{getValue()}</span>,
  }),
  column.accessor('number', {
    header: 'Number',
    meta: { align: 'right' },
    cell: ({ getValue }) => <span className="figures">{grouped(getValue())}</span>,
  }),
  column.accessor('entries', {
    header: 'Entries',
    meta: { align: 'right' },
    cell: ({ getValue }) => <span className="figures">{grouped(getValue())}</span>,
  }),
  column.accessor('this_update', { header: 'Signed', meta: { hideBelow: 'sm' }, cell: ({ getValue }) => <Time value={getValue()} /> }),
  column.accessor('next_update', { header: 'Next due', meta: { hideBelow: 'md' }, cell: ({ getValue }) => <Time value={getValue()} /> }),
  column.accessor('url', {
    header: 'Address',
    meta: { hideBelow: 'lg', cap: '20rem' },
    cell: ({ getValue }) => {
      const url = getValue();
      return url === null ? (
        <span className="text-ink-3">Not published</span>
      ) : (
        <CopyText value={url} label="address" className="max-w-full" />
      );
    },
  }),
];

/** The revocation lists of a root: one of each intermediate for its certificates, and the root's for its intermediates. */
export function CrlTab({ root }: { root: Root }) {
  const trpc = useTRPC();
  const { busy, save } = useDownload();
  const overview = useQuery(trpc.pki.overview.queryOptions({ name: root.id }));
  if (overview.isError) return <QueryError query={overview} what="Revocation lists" />;
  const subjectOf = new Map(overview.data?.intermediates.map(({ id, subject }) => [id, subject]));
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="max-w-2xl text-pretty text-ink-2">
          Lists are signed again within seconds of a revocation, and daily. A certificate that has expired leaves its list.
        </p>
        <Button icon={<Download />} loading={busy} onClick={() => void save(`/admin/pki/roots/${root.id}/crl`)}>
          Download all
        </Button>
      </div>
      <DataTable
        columns={columns}
        rows={overview.data?.crls.map((crl) => ({ ...crl, subject: subjectOf.get(crl.id) ?? root.subject }))}
        rowId={(row) => row.id}
        rowName={(row) => row.subject}
        caption="Revocation lists"
        skeletonRows={2}
        actions={(row) => {
          const of = `/admin/pki/roots/${root.id}/crl?issuer=${row.issuer === 'root' ? 'root' : row.id}`;
          return [
            { label: 'Download PEM', icon: <Download />, onSelect: () => void save(of) },
            { label: 'Download DER', icon: <Download />, onSelect: () => void save(`${of}&format=der`) },
          ];
        }}
      />
      <SectionCard title="Check a certificate" description="With all lists in one file, the chain and the root.">
        <CodeBlock
          snippets={[
            {
              id: 'openssl',
              label: 'OpenSSL',
              language: 'bash',
              code: `openssl verify -crl_check -CAfile ${root.name}.pem -untrusted chain.pem -CRLfile crl.pem leaf.pem`,
            },
          ]}
        />
      </SectionCard>
    </>
  );
}
