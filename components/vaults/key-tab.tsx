'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { KeySquare, RotateCw } from 'lucide-react';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { counted, grouped } from '#components/ui/numbers.ts';
import { Progress } from '#components/ui/progress.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { type Detail, nameInPath } from './vault-labels.ts';

type Version = { version: number; status: string; created_at: string; tokens: number | undefined };
const column = columnsFor<Version>();
const STATES = { active: ['ok', 'Active'], retired: ['off', 'Retired'], destroyed: ['blocked', 'Destroyed'] } as const;
const columns = [
  column.accessor('version', { header: 'Version', cell: ({ getValue }) => <span className="figures font-medium">{getValue()}</span> }),
  column.accessor('status', {
    header: 'Status',
    cell: ({ getValue }) => {
      const [state, label] = STATES[getValue() as keyof typeof STATES] ?? STATES.retired;
      return <Status state={state}>{label}</Status>;
    },
  }),
  column.accessor('tokens', {
    header: 'Tokens',
    meta: { align: 'right' },
    cell: ({ getValue }) => <span className="figures">{grouped(getValue()) ?? '…'}</span>,
  }),
  column.accessor('created_at', { header: 'Created', meta: { hideBelow: 'sm' }, cell: ({ getValue }) => <Time value={getValue()} /> }),
];

/** The vault's own key: its versions with what depends on each, rotation, and how far values have moved. */
export function KeyTab({ vault }: { vault: Detail }) {
  const trpc = useTRPC();
  const path = usePath();
  const cannotRotate = useForbidden('vault:rotate');
  const [rotating, setRotating] = useState(false);
  const key = useQuery(trpc.cryptoKeys.get.queryOptions({ name: vault.crypto_key_id }));
  const impact = useQuery(trpc.cryptoKeys.activity.queryOptions({ name: vault.crypto_key_id }));
  if (key.isError) return <QueryError query={key} what="The vault’s key" />;
  const tokens = impact.data && new Map(impact.data.tokens.map(({ version, count }) => [version, count]));
  const rows = key.data?.versions.map(({ version, status, created_at }) => ({
    version,
    status,
    created_at,
    tokens: tokens && (tokens.get(version) ?? 0),
  }));
  const { rewrap } = vault;
  return (
    <>
      {rewrap && (
        <SectionCard
          title={rewrap.finished_at ? 'Values are on the newest version' : 'Moving values to the newest version'}
          description="Tokens keep working while their values are re-encrypted."
        >
          <div className="flex flex-col gap-1.5">
            <Progress
              label="Re-encrypted values"
              done={rewrap.done}
              of={rewrap.total}
              text={`${grouped(rewrap.done)} of ${grouped(rewrap.total)}`}
            />
            <span className="figures text-ink-3 text-xs">
              {grouped(rewrap.done)} of {counted(rewrap.total, 'value')} on version {rewrap.to_version}
            </span>
          </div>
        </SectionCard>
      )}
      <SectionCard
        flush
        title="Versions"
        description="Each token names the version its value is encrypted under."
        actions={
          <div className="flex flex-wrap gap-2">
            <LinkButton size="sm" icon={<KeySquare />} href={path(`/crypto/${vault.crypto_key_id}?tab=versions`)}>
              Destroy a version
            </LinkButton>
            <Button size="sm" icon={<RotateCw />} disabledReason={cannotRotate} onClick={() => setRotating(true)}>
              Rotate
            </Button>
          </div>
        }
      >
        <DataTable
          columns={columns}
          rows={rows}
          rowId={(row) => String(row.version)}
          rowName={(row) => `Version ${row.version}`}
          caption="Versions"
        />
      </SectionCard>
      <RotateDialog vault={vault} open={rotating} onClose={() => setRotating(false)} />
    </>
  );
}

function RotateDialog({ vault, open, onClose }: { vault: Detail; open: boolean; onClose: () => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { space } = useScope();
  const [rewrap, setRewrap] = useState(true);
  const stores = vault.custody_mode === 'managed' && vault.token_format !== 'ff1';
  const input = stores && rewrap ? { rewrap } : {};
  const rotate = useMutation(
    trpc.vaults.rotate.mutationOptions({
      onSuccess: ({ new_version }) => {
        void queryClient.invalidateQueries(trpc.vaults.pathFilter());
        void queryClient.invalidateQueries(trpc.cryptoKeys.pathFilter());
        notifyDone(`Version ${new_version} is active`);
        onClose();
      },
    }),
  );
  return (
    <ConfirmDanger
      open={open}
      onOpenChange={(next) => {
        if (next) return;
        rotate.reset();
        onClose();
      }}
      title={`Rotate the key of ${vault.name}?`}
      consequences={[`New tokens use version ${vault.key_version + 1}.`, 'Existing tokens keep working.']}
      confirmLabel="Rotate key"
      space={space}
      busy={rotate.isPending}
      error={rotate.error ? refusalOf(rotate.error) : undefined}
      onConfirm={() => rotate.mutate({ vault: vault.id, ...input })}
    >
      {stores && (
        <Checkbox
          checked={rewrap}
          onCheckedChange={setRewrap}
          label="Move existing values too"
          description="Re-encrypts them in the background, so that old versions can be destroyed."
        />
      )}
      <ApiEquivalent method="POST" path={`/vaults/${nameInPath(vault)}/rotate`} body={input} />
    </ConfirmDanger>
  );
}
