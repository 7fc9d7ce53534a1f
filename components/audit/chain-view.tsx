'use client';

import { useQuery } from '@tanstack/react-query';
import { Download, ShieldCheck } from 'lucide-react';
import { useState } from 'react';
import type { z } from 'zod';
import { ForbiddenNote } from '#components/roles/forbidden-note.tsx';
import { nounOf } from '#components/shell/resources.ts';
import { useDownload } from '#components/trpc/download.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { SectionCard, Split } from '#components/ui/layout.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import type { CriticalRow } from '#server/domain/audit-logs/schema.ts';
import { FAILURES } from './chain-failures.ts';
import { verbOf } from './entry-text.ts';
import { VerifyCard } from './verify-card.tsx';

type Row = z.output<typeof CriticalRow>;
const column = columnsFor<Row>();
const columns = [
  column.accessor('sequence_number', {
    header: 'No.',
    meta: { width: '4rem' },
    cell: ({ getValue }) => <span className="figures">{getValue()}</span>,
  }),
  column.accessor('action', {
    header: 'Event',
    cell: ({ row }) => `${verbOf(row.original.action)} ${nounOf(row.original.resource_type)}`,
  }),
  column.accessor('at', { header: 'Time', cell: ({ getValue }) => <Time value={getValue()} /> }),
  column.accessor('row_hash', {
    header: 'Hash',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) => (
      <span title={getValue()} className="font-mono text-ink-2 text-xs">
        {getValue().slice(0, 16)}…
      </span>
    ),
  }),
];

const VERIFIER = '/verify-audit-chain.mjs';
const PAGE = 100;

/** The entries that can never be altered or dropped unnoticed: the head, the check, and what one needs to check without us. */
export function ChainView() {
  const trpc = useTRPC();
  const forbidden = useForbidden('audit_log:read_details');
  const [after, setAfter] = useState<readonly string[]>([]);
  const from = after.at(-1);
  const query = useQuery({
    ...trpc.auditLogs.critical.queryOptions({ limit: PAGE, ...(from ? { after: from } : {}) }),
    enabled: !forbidden,
  });
  const { busy, save } = useDownload();
  if (forbidden) return <ForbiddenNote capability="audit_log:read_details" what="the critical chain" />;
  if (query.isError) return <QueryError query={query} what="The critical chain" />;
  const { entries, head, checkpoint, failure, next_after } = query.data ?? {};
  return (
    <Split
      side={
        <>
          <SectionCard title="Latest entry">
            {head ? (
              <KeyValueList
                items={[
                  { label: 'Number', value: head.sequence_number },
                  { label: 'Hash', value: `${head.row_hash.slice(0, 16)}…`, copy: head.row_hash },
                  { label: 'Signed checkpoint', value: checkpoint ? <Time value={checkpoint.created_at} /> : 'None yet' },
                  ...(checkpoint ? [{ label: 'Signing key', value: checkpoint.key_id, copy: checkpoint.key_id }] : []),
                ]}
              />
            ) : (
              <p className="text-ink-2">The chain is empty.</p>
            )}
          </SectionCard>
          <VerifyCard last={Number(head?.sequence_number ?? 0)} />
          <SectionCard title="Verify offline" description="Download the chain and a standalone verifier, and check it on your own machine.">
            <div className="flex flex-wrap gap-2">
              <Button icon={<Download />} loading={busy} onClick={() => void save('/admin/audit-logs/critical/export.jsonl')}>
                Download chain
              </Button>
              <Button icon={<Download />} loading={busy} onClick={() => void save(VERIFIER)}>
                Download verifier
              </Button>
            </div>
          </SectionCard>
        </>
      }
    >
      {failure && (
        <Callout tone="bad" title={`The chain is broken at entry ${failure.sequence_number}`}>
          {FAILURES[failure.kind]} The chain is no longer signed. Download it and contact the operator of this installation.
        </Callout>
      )}
      <DataTable
        columns={columns}
        rows={entries}
        rowId={(row) => row.sequence_number}
        rowName={(row) => `entry ${row.sequence_number}`}
        caption="Critical entries, oldest first"
        empty={
          <EmptyState icon={<ShieldCheck />} title="No critical entries yet">
            Security-critical events, such as workspace key rotations, are hash-chained here and kept forever.
          </EmptyState>
        }
      />
      {(next_after || after.length > 0) && (
        <div className="flex justify-center gap-2">
          <Button size="sm" disabled={after.length === 0} onClick={() => setAfter(after.slice(0, -1))}>
            Earlier entries
          </Button>
          <Button size="sm" disabled={!next_after} onClick={() => next_after && setAfter([...after, next_after])}>
            Later entries
          </Button>
        </div>
      )}
    </Split>
  );
}
