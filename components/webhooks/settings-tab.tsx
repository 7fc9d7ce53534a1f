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
import type { Detail } from './webhook-labels.ts';

const EditWebhookSheet = lazyOverlay(() => import('./edit-sheet.tsx').then((module) => module.EditWebhookSheet), whenOpen);

/** What of a webhook can be changed, what stops it, and what ends it. */
export function SettingsTab({ webhook }: { webhook: Detail }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const cannotUpdate = useForbidden('webhook:update');
  const cannotDelete = useForbidden('webhook:delete');
  const [deleting, setDeleting] = useState(false);
  const [editing, setEditing] = useState(false);
  const update = useMutation(
    trpc.webhooks.update.mutationOptions({
      onError: (error) => notifyRefused(error),
      onSuccess: ({ enabled }) => {
        notifyDone(enabled ? 'Webhook enabled' : 'Webhook paused');
        return queryClient.invalidateQueries(trpc.webhooks.pathFilter());
      },
    }),
  );
  return (
    <>
      <SectionCard title="Settings" description="Events, receiver, authentication, signature and delivery.">
        <div>
          <Button icon={<Pencil />} disabledReason={cannotUpdate} onClick={() => setEditing(true)}>
            Edit webhook
          </Button>
        </div>
      </SectionCard>
      <EditWebhookSheet open={editing} webhook={webhook} onClose={() => setEditing(false)} />
      <SectionCard title="Danger zone" tone="danger">
        <div className="flex flex-col divide-y divide-line">
          <DangerRow title="Webhook enabled" text="While this is off, nothing is sent. What waits to be delivered is dropped.">
            <Switch
              hideLabel
              label="Webhook enabled"
              checked={webhook.enabled}
              disabledReason={update.isPending ? 'Saving…' : cannotUpdate}
              onCheckedChange={(enabled) => update.mutate({ id: webhook.id, enabled })}
            />
          </DangerRow>
          <DangerRow title="Delete the webhook" text="Ends it with its secret and the log of its deliveries.">
            <Button variant="danger-quiet" icon={<Trash2 />} disabledReason={cannotDelete} onClick={() => setDeleting(true)}>
              Delete webhook
            </Button>
          </DangerRow>
        </div>
        <DeleteDialog webhook={webhook} open={deleting} onClose={() => setDeleting(false)} />
      </SectionCard>
    </>
  );
}

function DeleteDialog({ webhook, open, onClose }: { webhook: Detail; open: boolean; onClose: () => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const router = useRouter();
  const path = usePath();
  const { space } = useScope();
  const remove = useMutation(
    trpc.webhooks.delete.mutationOptions({
      onSuccess: () => {
        void queryClient.invalidateQueries(trpc.webhooks.list.queryFilter());
        void queryClient.invalidateQueries(trpc.account.pathFilter());
        notifyDone(`Webhook ${webhook.name} deleted`);
        router.replace(path('/webhooks'));
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
      title={`Delete ${webhook.name}?`}
      consequences={[
        'No event is sent to it any more. This can’t be undone.',
        `${counted(webhook.pending, 'delivery', 'deliveries')} that wait are dropped.`,
        'The log of its deliveries is deleted.',
      ]}
      confirmLabel="Delete webhook"
      resourceName={webhook.name}
      space={space}
      busy={remove.isPending}
      error={remove.error ? refusalOf(remove.error) : undefined}
      onConfirm={() => remove.mutate({ id: webhook.id })}
    >
      <ApiEquivalent method="DELETE" path={`/webhooks/${webhook.id}`} />
    </ConfirmDanger>
  );
}
