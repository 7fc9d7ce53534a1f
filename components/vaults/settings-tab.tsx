'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Pencil, Trash2 } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Switch } from '#components/ui/choices.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { DangerRow } from '#components/ui/danger-row.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { counted } from '#components/ui/numbers.ts';
import { notifyDone } from '#components/ui/toaster.tsx';
import { type Detail, nameInPath } from './vault-labels.ts';

const EditVaultSheet = lazyOverlay(() => import('./edit-sheet.tsx').then((module) => module.EditVaultSheet), whenOpen);

/** What of a vault can be changed, what stops it, and what ends it. */
export function SettingsTab({ vault }: { vault: Detail }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const cannotUpdate = useForbidden('vault:update');
  const cannotDelete = useForbidden('vault:delete');
  const [deleting, setDeleting] = useState(false);
  const [editing, setEditing] = useState(false);
  const update = useMutation(
    trpc.vaults.update.mutationOptions({
      onError: (error) => notifyRefused(error),
      onSuccess: ({ enabled }) => {
        notifyDone(enabled ? 'Vault enabled' : 'Vault disabled');
        return queryClient.invalidateQueries(trpc.vaults.pathFilter());
      },
    }),
  );
  return (
    <>
      <SectionCard
        title="Settings"
        description="Description, lifetime of tokens, hosts and metadata. Name, format and custody can’t be changed."
      >
        <div>
          <Button icon={<Pencil />} disabledReason={cannotUpdate} onClick={() => setEditing(true)}>
            Edit vault
          </Button>
        </div>
      </SectionCard>
      <EditVaultSheet open={editing} vault={vault} onClose={() => setEditing(false)} />
      <SectionCard title="Danger zone" tone="danger">
        <div className="flex flex-col divide-y divide-line">
          <DangerRow
            title="Vault enabled"
            text="While this is off, nothing is tokenized or detokenized, and open client tokens of the vault end. Listing and deleting still work."
          >
            <Switch
              hideLabel
              label="Vault enabled"
              checked={vault.enabled}
              disabledReason={update.isPending ? 'Saving…' : cannotUpdate}
              onCheckedChange={(enabled) => update.mutate({ vault: vault.id, enabled })}
            />
          </DangerRow>
          <DangerRow title="Delete the vault" text="Destroys its key. No token of it can ever be detokenized again.">
            <Button variant="danger-quiet" icon={<Trash2 />} disabledReason={cannotDelete} onClick={() => setDeleting(true)}>
              Delete vault
            </Button>
          </DangerRow>
        </div>
        <DeleteDialog vault={vault} open={deleting} onClose={() => setDeleting(false)} />
      </SectionCard>
    </>
  );
}

function DeleteDialog({ vault, open, onClose }: { vault: Detail; open: boolean; onClose: () => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const router = useRouter();
  const path = usePath();
  const { space } = useScope();
  const remove = useMutation(
    trpc.vaults.delete.mutationOptions({
      onSuccess: () => {
        void queryClient.invalidateQueries(trpc.vaults.list.queryFilter());
        void queryClient.invalidateQueries(trpc.account.pathFilter());
        notifyDone(`Vault ${vault.name} deleted`);
        router.replace(path('/vaults'));
      },
    }),
  );
  return (
    <ConfirmDanger
      open={open}
      onOpenChange={(next) => {
        if (next) return;
        remove.reset();
        onClose();
      }}
      title={`Delete ${vault.name}?`}
      consequences={[
        'Its key is destroyed, every version of it. This can’t be undone.',
        `${counted(vault.stats.token_count, 'token')} can never be detokenized again.`,
        'Backups keep values encrypted, and unreadable, until they age out.',
      ]}
      confirmLabel="Delete vault"
      resourceName={vault.name}
      space={space}
      busy={remove.isPending}
      error={remove.error ? refusalOf(remove.error) : undefined}
      onConfirm={() => remove.mutate({ vault: vault.id })}
    >
      <ApiEquivalent method="DELETE" path={`/vaults/${nameInPath(vault)}`} />
    </ConfirmDanger>
  );
}
