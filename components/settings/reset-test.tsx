'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { RotateCcw } from 'lucide-react';
import { useState } from 'react';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { DangerRow } from '#components/ui/danger-row.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { counted } from '#components/ui/numbers.ts';
import { notifyDone } from '#components/ui/toaster.tsx';
import { ChangeSlugRow, DeleteWorkspaceRow } from './workspace-danger.tsx';

/** Test back to how the workspace began. Only a person who has just proved who they are may do it. */
export function DangerZone({ name }: { name: string }) {
  const [asking, setAsking] = useState(false);
  const unable = useForbidden('sandbox:reset');
  return (
    <SectionCard tone="danger" title="Danger zone">
      <DangerRow
        title="Reset Test"
        text="Deletes everything in Test, including API keys and logs, and restores the starter setup. Live is not affected."
      >
        <Button variant="danger-quiet" icon={<RotateCcw />} disabledReason={unable} onClick={() => setAsking(true)}>
          Reset Test…
        </Button>
      </DangerRow>
      <ChangeSlugRow />
      <DeleteWorkspaceRow name={name} />
      {asking && <ResetDialog name={name} onClose={() => setAsking(false)} />}
    </SectionCard>
  );
}

function ResetDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { slug } = useScope();
  const [password, setPassword] = useState('');
  const reset = useMutation({
    ...trpc.sandbox.reset.mutationOptions({
      onSuccess: ({ deleted }) => {
        void cache.invalidateQueries();
        // What every space has without anyone adding it is not counted.
        const { environments: _, api_keys: __, ...made } = deleted;
        const n = Object.values(made).reduce((sum, count) => sum + count, 0);
        notifyDone(`Test reset. ${counted(n, 'resource')} deleted.`);
        onClose();
      },
    }),
    // The password passes through here: no cache keeps it.
    gcTime: 0,
  });
  const refusal = reset.error ? refusalOf(reset.error) : undefined;
  const [asked, setAsked] = useState(false);
  if (!asked && (refusal?.code === 'step_up_required' || refusal?.code === 'invalid_credentials')) setAsked(true);
  const error =
    refusal && refusal.code !== 'step_up_required' ? { message: refusal.message, request_id: refusal.request_id || undefined } : undefined;
  return (
    <ConfirmDanger
      open
      onOpenChange={(open) => !open && onClose()}
      // Test or not: what is typed here is asked for wherever much is lost.
      space="live"
      title="Reset Test?"
      resourceName={name}
      confirmLabel="Reset Test"
      consequences={[
        'Every route, secret, client, collection and environment in Test is permanently deleted.',
        'Every Test API key stops working.',
        'Test logs and metrics are deleted. The audit log is kept.',
        'Test starts again with the echo route and a sample secret.',
      ]}
      busy={reset.isPending}
      error={error}
      onConfirm={() => reset.mutate({ confirm_name: name, ...(password ? { password } : {}) })}
    >
      {asked && (
        <>
          {refusal?.code === 'step_up_required' && (
            <Callout title="Confirm it's you">
              You signed in more than 10 minutes ago. Enter your password. If you don't have one, sign out and sign in again.
            </Callout>
          )}
          <Field label="Your password">
            <Input type="password" autoComplete="current-password" value={password} onChange={(event) => setPassword(event.target.value)} />
          </Field>
        </>
      )}
      <p>
        <LinkButton size="sm" variant="ghost" href={`/${slug}/test/promote`}>
          Promote to Live first
        </LinkButton>
      </p>
    </ConfirmDanger>
  );
}
