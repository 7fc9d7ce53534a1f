'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import Link from 'next/link';
import { useState } from 'react';
import { z } from 'zod';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { MutationError, QueryError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useReadOnlyReason } from '#components/trpc/role.ts';
import { Badge, Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, useUnsavedGuard, useZodForm } from '#components/ui/form.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { textLink } from '#components/ui/layout.tsx';
import { Select } from '#components/ui/select.tsx';
import { Sheet } from '#components/ui/sheet.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { NewKey } from './created-card.tsx';
import { KeyFields, keyFields, keyInput } from './key-fields.tsx';
import { type Key, limitInWords, roleName, stateOf, TYPES } from './key-words.ts';
import { RolePreview } from './role-picker.tsx';

type Props = { id: string | null; onClose: () => void; onRotated: (key: NewKey) => void };

/** One key beside the list: what it is, what it may do, and everything one can do to it. */
export function KeyPanel({ id, onClose, onRotated }: Props) {
  const trpc = useTRPC();
  const query = useQuery({ ...trpc.apiKeys.get.queryOptions({ id: id ?? '' }), enabled: id !== null });
  const [view, setView] = useState<'facts' | 'edit'>('facts');
  const key = query.data;
  return (
    <Sheet
      open={id !== null}
      onOpenChange={(open) => {
        if (open) return;
        setView('facts');
        onClose();
      }}
      modal={false}
      resizable
      title={key?.name ?? 'API key'}
      actions={
        key?.active && (
          <Segmented
            size="sm"
            label="View"
            value={view}
            onValueChange={setView}
            options={[
              { value: 'facts', label: 'Details' },
              { value: 'edit', label: 'Edit' },
            ]}
          />
        )
      }
    >
      {query.isError ? (
        <QueryError query={query} what="This key" />
      ) : !key ? (
        <Skeleton lines={8} label="Loading the key" />
      ) : view === 'edit' && key.active ? (
        <EditForm key={key.id} apiKey={key} onDone={() => setView('facts')} />
      ) : (
        <KeyDetails apiKey={key} onRotated={onRotated} />
      )}
    </Sheet>
  );
}

function KeyDetails({ apiKey, onRotated }: { apiKey: Key; onRotated: Props['onRotated'] }) {
  const path = usePath();
  const readOnly = useReadOnlyReason();
  const [asking, setAsking] = useState<'rotate' | 'revoke'>();
  const { state, label } = stateOf(apiKey);
  return (
    <>
      <KeyValueList
        items={[
          {
            label: 'State',
            value: <Status state={state}>{label}</Status>,
            ...(apiKey.revoked_at ? { hint: <Time value={apiKey.revoked_at} /> } : {}),
          },
          { label: 'Kind', value: TYPES[apiKey.key_type] },
          { label: 'Key', value: apiKey.key_id, copy: apiKey.key_id, hint: 'The secret half is not stored and cannot be shown.' },
          { label: 'Roles', value: <Roles ids={apiKey.role_ids} /> },
          ...(apiKey.scopes ? [{ label: 'Scopes', value: apiKey.scopes.join(', ') || 'none' }] : []),
          { label: 'Rate limit', value: limitInWords(apiKey.rate_limit_requests, apiKey.rate_limit_window_sec) ?? 'unlimited' },
          {
            label: 'Addresses',
            value: apiKey.ip_allowlist.length ? (
              <span className="font-mono text-xs">{apiKey.ip_allowlist.join(', ')}</span>
            ) : (
              'from anywhere'
            ),
          },
          { label: 'Expires', value: <Time value={apiKey.expires_at} format="datetime" empty="never" /> },
          {
            label: 'Last used',
            value: <Time value={apiKey.last_used_at} empty="never" />,
            ...(apiKey.last_used_ip ? { hint: `from ${apiKey.last_used_ip}` } : {}),
          },
          {
            label: 'Made',
            value: <Time value={apiKey.created_at} />,
            ...(apiKey.created_by ? { hint: `by ${apiKey.created_by.label}` } : {}),
          },
        ]}
      />
      <RolePreview roles={apiKey.role_ids} />
      <p className="flex gap-4">
        <Link className={textLink} href={path(`/audit?resource_type=api_key&resource_id=${apiKey.id}`)}>
          Activity
        </Link>
      </p>
      {apiKey.active && (
        <div className="flex flex-wrap gap-2">
          <Button disabledReason={readOnly} onClick={() => setAsking('rotate')}>
            Rotate
          </Button>
          <Button variant="danger-quiet" disabledReason={readOnly} onClick={() => setAsking('revoke')}>
            Revoke
          </Button>
        </div>
      )}
      {asking === 'rotate' && <RotateDialog apiKey={apiKey} onClose={() => setAsking(undefined)} onRotated={onRotated} />}
      <RevokeDialog apiKey={apiKey} open={asking === 'revoke'} onClose={() => setAsking(undefined)} />
    </>
  );
}

export function Roles({ ids }: { ids: readonly string[] }) {
  if (ids.length === 0) return <span className="text-warn-ink">none</span>;
  return (
    <span className="flex flex-wrap gap-1">
      {ids.map((id) => (
        <Badge key={id}>{roleName(id)}</Badge>
      ))}
    </span>
  );
}

const Edited = z.object(keyFields);

function EditForm({ apiKey, onDone }: { apiKey: Key; onDone: () => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const readOnly = useReadOnlyReason();
  const form = useZodForm({
    schema: Edited,
    defaultValues: {
      name: apiKey.name,
      role_ids: [...apiKey.role_ids],
      rate_limit_requests: apiKey.rate_limit_requests?.toString() ?? '',
      rate_limit_window_sec: (apiKey.rate_limit_window_sec ?? 60).toString(),
      ip_allowlist: apiKey.ip_allowlist.join('\n'),
    },
  });
  const { refusal, panel, refuse, clear } = useFormRefusal(form);
  const dirty = form.formState.isDirty;
  useUnsavedGuard(dirty);
  const update = useMutation(
    trpc.apiKeys.update.mutationOptions({
      onError: refuse,
      onSuccess: () => {
        void queryClient.invalidateQueries(trpc.apiKeys.pathFilter());
        notifyDone('Key changed; it applies to the next call');
        onDone();
      },
    }),
  );
  return (
    <Form
      form={form}
      refusal={refusal}
      onSubmit={(value) => {
        clear();
        update.mutate({ id: apiKey.id, ...keyInput(value) });
      }}
    >
      {panel}
      <KeyFields form={form} />
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button
          type="submit"
          variant="primary"
          keys="mod+enter"
          loading={update.isPending}
          disabledReason={readOnly ?? (dirty ? undefined : 'Nothing is changed')}
        >
          Save
        </Button>
      </div>
    </Form>
  );
}

const OVERLAPS = [
  { value: '0', label: 'stops at once' },
  { value: '3600', label: 'works for one more hour' },
  { value: '86400', label: 'works for one more day' },
  { value: '604800', label: 'works for one more week' },
  { value: 'keep', label: 'works until it is revoked' },
];

function RotateDialog({ apiKey, onClose, onRotated }: { apiKey: Key; onClose: () => void; onRotated: Props['onRotated'] }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [overlap, setOverlap] = useState('86400');
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
      description="A new key with the same roles, limit and addresses. The new one is shown once."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            loading={rotate.isPending}
            onClick={() => rotate.mutate({ id: apiKey.id, revoke_old_after_sec: overlap === 'keep' ? null : Number(overlap) })}
          >
            Make the new key
          </Button>
        </>
      }
    >
      <Field label="The old key" hint="Long enough to bring the new one to everything that uses the old.">
        <Select options={OVERLAPS} value={overlap} onValueChange={setOverlap} />
      </Field>
      <MutationError error={rotate.error} />
    </Dialog>
  );
}

export function RevokeDialog({ apiKey, open, onClose }: { apiKey: Key; open: boolean; onClose: () => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { space } = useScope();
  const revoke = useMutation(
    trpc.apiKeys.revoke.mutationOptions({
      onSuccess: () => {
        void queryClient.invalidateQueries(trpc.apiKeys.pathFilter());
        void queryClient.invalidateQueries(trpc.account.pathFilter());
        notifyDone(`Key ${apiKey.name} is revoked`);
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
        'The next call with it is refused. This cannot be undone.',
        apiKey.last_used_at ? (
          <>
            It was last used <Time value={apiKey.last_used_at} />
            {apiKey.last_used_ip && ` from ${apiKey.last_used_ip}`}.
          </>
        ) : (
          'It was never used.'
        ),
        'Its past calls stay in the logs under its name.',
      ]}
      confirmLabel="Revoke key"
      resourceName={apiKey.name}
      space={space}
      busy={revoke.isPending}
      error={revoke.error ? refusalOf(revoke.error) : undefined}
      onConfirm={() => revoke.mutate({ id: apiKey.id })}
    />
  );
}
