'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Switch } from '#components/ui/choices.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { DangerRow } from '#components/ui/danger-row.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { SectionCard, Split } from '#components/ui/layout.tsx';
import { lazyOverlay, lazyPart, whenOpen } from '#components/ui/lazy.tsx';
import { counted } from '#components/ui/numbers.ts';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { keyTypeCan } from '#server/domain/crypto-keys/key-types.shared.ts';
import { type Detail, MANY_ENCRYPTIONS, MODES, managedReason, TYPES } from './key-labels.ts';

const PublicKeyCard = lazyPart(() => import('./public-key-card.tsx').then((module) => module.PublicKeyCard));
const EditKeySheet = lazyOverlay(() => import('./edit-sheet.tsx').then((module) => module.EditKeySheet), whenOpen);
const DeleteKeyDialog = lazyOverlay(() => import('./key-dialogs.tsx').then((module) => module.DeleteKeyDialog), whenOpen);

/** The settings of a key, its public half, and what ends it. */
export function KeyOverview({ crypto }: { crypto: Detail }) {
  const [open, setOpen] = useState<'edit' | 'delete'>();
  const cannotUpdate = useForbidden('transit:update');
  const cannotDestroy = useForbidden('transit:destroy');
  const managed = managedReason(crypto);
  const active = crypto.versions.find(({ status }) => status === 'active');
  const close = () => setOpen(undefined);
  return (
    <Split
      side={
        <SectionCard
          title="Details"
          actions={
            <Button size="sm" icon={<Pencil />} disabledReason={cannotUpdate} onClick={() => setOpen('edit')}>
              Edit
            </Button>
          }
        >
          <KeyValueList
            items={[
              { label: 'ID', value: crypto.id, copy: crypto.id },
              { label: 'Type', value: TYPES[crypto.key_type].label, hint: TYPES[crypto.key_type].use },
              { label: 'Mode', value: MODES[crypto.mode] },
              ...(crypto.derived ? [{ label: 'Context', value: crypto.convergent ? 'Derived, convergent' : 'Derived' }] : []),
              { label: 'Active version', value: crypto.current_version },
              {
                label: 'Rotates',
                value: crypto.auto_rotate_days === null ? 'By hand' : `Every ${counted(crypto.auto_rotate_days, 'day')}`,
              },
              ...(crypto.min_decryption_version > 1 ? [{ label: 'Oldest usable version', value: crypto.min_decryption_version }] : []),
              ...(crypto.jwt_version_from
                ? [{ label: 'New JWT version', value: <Time value={crypto.jwt_version_from} />, hint: 'Verifiers learn of it first.' }]
                : []),
              { label: 'Created', value: <Time value={crypto.created_at} format="datetime" /> },
              { label: 'Updated', value: <Time value={crypto.updated_at} format="datetime" /> },
            ]}
          />
        </SectionCard>
      }
    >
      {managed && <Callout title={managed} />}
      {active && active.encrypt_count >= MANY_ENCRYPTIONS && (
        <Callout tone="warn" title="Rotate this key soon">
          Version {active.version} has encrypted {counted(active.encrypt_count, 'value')}. It’s rotated automatically at 2³².
        </Callout>
      )}
      {keyTypeCan(crypto.key_type, 'public-key') && <PublicKeyCard crypto={crypto} />}
      {keyTypeCan(crypto.key_type, 'jwks') && <KeySetCard crypto={crypto} readOnly={managed ?? cannotUpdate} />}
      <SectionCard title="Danger zone" tone="danger">
        <div className="flex flex-col divide-y divide-line">
          <LatchRow crypto={crypto} readOnly={cannotUpdate ?? (crypto.deletion_allowed ? undefined : cannotDestroy)} />
          {crypto.managed_by === 'tenant' && (
            <DangerRow title="Delete the key" text="Destroys every version. What was encrypted under the key can’t be decrypted any more.">
              <Button
                variant="danger-quiet"
                icon={<Trash2 />}
                disabledReason={cannotDestroy ?? (crypto.deletion_allowed ? undefined : 'Allow destruction first')}
                onClick={() => setOpen('delete')}
              >
                Delete key
              </Button>
            </DangerRow>
          )}
        </div>
      </SectionCard>
      <EditKeySheet key={crypto.id} crypto={crypto} open={open === 'edit'} onClose={close} />
      <DeleteKeyDialog crypto={crypto} open={open === 'delete'} onClose={close} />
    </Split>
  );
}

type Row = { crypto: Detail; readOnly: string | undefined };

/** One setting of a key, changed by a click. */
function useSetting(done: (key: { deletion_allowed: boolean; jwks_public: boolean }) => string) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  return useMutation(
    trpc.cryptoKeys.update.mutationOptions({
      onError: (error) => notifyRefused(error),
      onSuccess: (key) => {
        notifyDone(done(key));
        return queryClient.invalidateQueries(trpc.cryptoKeys.pathFilter());
      },
    }),
  );
}

/** The latch between a key and its destruction; raising it asks for a second factor. */
function LatchRow({ crypto, readOnly }: Row) {
  const set = useSetting(({ deletion_allowed }) => (deletion_allowed ? 'Destruction allowed' : 'Key protected'));
  return (
    <DangerRow title="Allow destruction" text="While this is off, no version can be destroyed and the key can’t be deleted.">
      <Switch
        hideLabel
        label="Allow destruction"
        checked={crypto.deletion_allowed}
        disabledReason={set.isPending ? 'Saving…' : readOnly}
        onCheckedChange={(deletion_allowed) => set.mutate({ name: crypto.id, deletion_allowed })}
      />
    </DangerRow>
  );
}

/** Whether anybody can fetch the public keys, and where. */
function KeySetCard({ crypto, readOnly }: Row) {
  const set = useSetting(({ jwks_public }) => (jwks_public ? 'JWK set published' : 'JWK set no longer public'));
  return (
    <SectionCard title="Public JWK set" description="Lets anyone verify your signatures and JWTs, with no credential.">
      <div className="flex flex-col gap-3">
        <Switch
          label="Publish the JWK set"
          description="All active and retired versions. After a rotation, JWTs use the new version once verifiers have had 5 minutes to fetch it."
          checked={crypto.jwks_public}
          disabledReason={set.isPending ? 'Saving…' : readOnly}
          onCheckedChange={(jwks_public) => set.mutate({ name: crypto.id, jwks_public })}
        />
        {crypto.jwks_url && (
          <p className="min-w-0 font-mono text-xs">
            <CopyText value={crypto.jwks_url} label="JWKS URL" />
          </p>
        )}
      </div>
    </SectionCard>
  );
}
