import { Status } from '#components/ui/badge.tsx';
import { capitalize } from '#components/ui/capitalize.ts';
import { DataTable } from '#components/ui/data-table.tsx';
import { SectionCard, textLink } from '#components/ui/layout.tsx';
import { money } from '#components/ui/numbers.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import type { Billing } from './billing.ts';

type Invoice = Billing['invoices'][number];
const of = columnsFor<Invoice>();
const columns = [
  of.accessor('date', { header: 'Date', cell: ({ getValue }) => <Time value={getValue()} format="date" /> }),
  of.accessor('number', { header: 'Number', meta: { hideBelow: 'md' }, cell: ({ row }) => row.original.number ?? row.original.id }),
  of.accessor('amount', { header: 'Amount', cell: ({ row }) => money(row.original.amount, row.original.currency) }),
  of.accessor('status', {
    header: 'Status',
    cell: ({ getValue }) => (
      <Status state={getValue() === 'paid' ? 'ok' : getValue() === 'open' ? 'pending' : 'off'}>{capitalize(getValue())}</Status>
    ),
  }),
  of.display({
    id: 'pdf',
    header: 'Document',
    cell: ({ row }) =>
      row.original.pdf_url && (
        <a className={textLink} href={row.original.pdf_url} target="_blank" rel="noreferrer">
          Download
        </a>
      ),
  }),
];

/** The newest two dozen; the provider's portal has all of them. */
export function Invoices({ invoices, driver }: { invoices: readonly Invoice[]; driver: Billing['driver'] }) {
  return (
    <SectionCard title="Invoices" flush>
      {invoices.length === 0 ? (
        <p className="px-4 py-6 text-ink-2">
          {driver === 'manual' ? 'This installation doesn’t take payments.' : 'The first one appears after the first payment.'}
        </p>
      ) : (
        <DataTable
          className="rounded-t-none border-0"
          caption="Invoices"
          columns={columns}
          rows={invoices}
          rowId={(row) => row.id}
          rowName={(row) => row.number ?? row.id}
        />
      )}
    </SectionCard>
  );
}
