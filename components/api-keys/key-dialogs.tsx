'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTraffic } from '#components/logs/use-traffic.ts';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { Button } from '#components/ui/button.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { Field } from '#components/ui/field.tsx';
import { textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { counted, grouped } from '#components/ui/numbers.ts';
import { Select } from '#components/ui/select.tsx';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { namesOf } from '#server/domain/authorities/acting.shared.ts';
import type { NewKey } from './created-card.tsx';
import type { Key } from './key-labels.ts';

const OVERLAPS = [
  { value: '0', label: 'Stops immediately' },
  { value: '3600', label: 'Works for 1 more hour' },
  { value: '86400', label: 'Works for 1 more day' },
  { value: '604800', label: 'Works for 1 more week' },
  { value: 'keep', label: 'Works until revoked' },
];

/** A new key in the place of this one, and how long the old one goes on. */
export function RotateDialog({ apiKey, onClose, onRotated }: { apiKey: Key; onClose: () => void; onRotated: (key: NewKey) => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [overlap, setOverlap] = useState('86400');
  const input = { revoke_old_after_sec: overlap === 'keep' ? null : Number(overlap) };
  const rotate = useMutation(
    trpc.apiKeys.rotate.mutationOptions({
      gcTime: 0,
      onSuccess: ({ api_key, key_id, name }) => {
        void queryClient.invalidateQueries(trpc.apiKeys.pathFilter());
        onRotated({ api_key, key_id, name, replaced: true });
        onClose();
      },
    }),
  );
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Rotate ${apiKey.name}`}
      description="Creates a new key with the same roles, rate limit and allowed IP addresses. It’s shown once."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" loading={rotate.isPending} onClick={() => rotate.mutate({ id: apiKey.id, ...input })}>
            Rotate key
          </Button>
        </>
      }
    >
      <Field
        label="Old key"
        hint={
          overlap === '0'
            ? 'For a key that leaked. Workflows and inbound webhooks that call routes in its name stop.'
            : 'Leave enough time to update everything that uses it. Workflows and inbound webhooks that call routes in its name go on with the new key.'
        }
      >
        <Select options={OVERLAPS} value={overlap} onValueChange={setOverlap} />
      </Field>
      <MutationError error={rotate.error} />
      <ApiEquivalent method="POST" path={`/api-keys/${apiKey.id}/rotate`} body={input} />
    </Dialog>
  );
}

/** Asks before a key stops for good, with what would stop with it. */
export function RevokeDialog({ apiKey, open, onClose }: { apiKey: Key; open: boolean; onClose: () => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { space } = useScope();
  const path = usePath();
  // What would stop: asked for when the dialog opens.
  const month = useTraffic('api_key', open ? [apiKey.id] : undefined)(apiKey.id);
  const today = useQuery(trpc.requestLogs.stats.queryOptions({ api_key_id: apiKey.id }, { enabled: open }));
  // The row in the list may be older than the last call: nobody revokes a key that works because it "was never used".
  const latest = useQuery(trpc.apiKeys.get.queryOptions({ id: apiKey.id }, { enabled: open, staleTime: 0 }));
  const uses = useQuery(trpc.apiKeys.uses.queryOptions({ id: apiKey.id }, { enabled: open, staleTime: 0 }));
  const acting = uses.data?.acting ?? [];
  const used = latest.isFetching ? undefined : latest.data;
  const busiest = today.data?.top_routes.flatMap((route) => route.name ?? []).slice(0, 3) ?? [];
  const revoke = useMutation(
    trpc.apiKeys.revoke.mutationOptions({
      onSuccess: () => {
        void queryClient.invalidateQueries(trpc.apiKeys.pathFilter());
        void queryClient.invalidateQueries(trpc.account.pathFilter());
        notifyDone(`${apiKey.name} revoked`);
        onClose();
      },
    }),
  );
  return (
    <ConfirmDanger
      open={open}
      onOpenChange={(next) => {
        if (next) return;
        revoke.reset();
        onClose();
      }}
      title={`Revoke ${apiKey.name}?`}
      consequences={[
        'Calls with this key are refused immediately. This can’t be undone.',
        ...(month && month.calls_30d > 0
          ? [
              `${counted(month.calls_30d, 'call')} through routes in the last 30 days, ${grouped(month.calls_24h ?? 0)} in the last 24 hours${
                busiest.length > 0 ? `, most to ${busiest.join(', ')}` : ''
              }. These callers will stop working.`,
            ]
          : []),
        ...(acting.length > 0
          ? [
              `${counted(acting.length, 'workflow or inbound webhook', 'workflows and inbound webhooks')} will no longer call routes: ${namesOf(acting)}. Somebody who may call the routes has to publish or turn them on again.`,
            ]
          : []),
        used?.last_used_at ? (
          <>
            Last used <Time value={used.last_used_at} />
            {used.last_used_ip && ` from ${used.last_used_ip}`}.
          </>
        ) : used && today.data ? (
          today.data.totals.total === 0 ? (
            'Never used.'
          ) : (
            'Used in the last 24 hours.'
          )
        ) : (
          'Checking when it was last used…'
        ),
        <>
          Its past calls stay in the logs. Routes, clients and keys it created keep working:{' '}
          <Link className={textLink} href={path(`/audit?actor=${apiKey.id}`)}>
            view its changes
          </Link>
          .
        </>,
      ]}
      confirmLabel="Revoke key"
      resourceName={apiKey.name}
      space={space}
      busy={revoke.isPending}
      error={revoke.error ? refusalOf(revoke.error) : undefined}
      onConfirm={() => revoke.mutate({ id: apiKey.id })}
    >
      <ApiEquivalent method="DELETE" path={`/api-keys/${apiKey.id}`} />
    </ConfirmDanger>
  );
}
