'use client';

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { textLink } from '#components/ui/layout.tsx';
import { lazyTab } from '#components/ui/lazy.tsx';
import { Link } from '#components/ui/link.tsx';
import { Sheet } from '#components/ui/sheet.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { Time } from '#components/ui/time.tsx';
import type { NewKey } from './created-card.tsx';
import { RevokeDialog, RotateDialog } from './key-dialogs.tsx';
import { type Key, limitInWords, stateOf, TYPES } from './key-labels.ts';
import { KeyTraffic } from './key-traffic.tsx';
import { KeyUses } from './key-uses.tsx';
import { RolePreview } from './role-picker.tsx';
import { Roles } from './roles.tsx';
import { useRevocable } from './use-revocable.ts';

const KeyAnalytics = lazyTab(() => import('#components/analytics/resource-analytics.tsx').then((module) => module.ResourceAnalytics));
const EditForm = lazyTab(() => import('./key-edit-form.tsx').then((module) => module.EditForm));

type Props = { id: string | null; onClose: () => void; onRotated: (key: NewKey) => void };

/** One key beside the list: what it is, what it may do, and everything one can do to it. */
export function KeyPanel({ id, onClose, onRotated }: Props) {
  const trpc = useTRPC();
  const query = useQuery({ ...trpc.apiKeys.get.queryOptions({ id: id ?? '' }), enabled: id !== null });
  const [view, setView] = useState<'facts' | 'analytics' | 'edit'>('facts');
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
        key && (
          <Segmented
            size="sm"
            label="View"
            value={view}
            onValueChange={setView}
            options={[
              { value: 'facts', label: 'Details' },
              { value: 'analytics', label: 'Analytics' },
              ...(key.active ? [{ value: 'edit' as const, label: 'Edit' }] : []),
            ]}
          />
        )
      }
    >
      {query.isError ? (
        <QueryError query={query} what="This API key" />
      ) : !key ? (
        <Skeleton lines={8} label="Loading the API key" />
      ) : view === 'analytics' ? (
        <KeyAnalytics key={key.id} of={{ api_key_id: key.id }} tops={['route', 'error', 'environment']} narrow />
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
  const { slug } = useScope();
  const readOnly = useForbidden('api_key:update');
  const irrevocable = useRevocable();
  const [asking, setAsking] = useState<'rotate' | 'revoke'>();
  const { state, label } = stateOf(apiKey);
  return (
    <>
      <KeyValueList
        items={[
          {
            label: 'Status',
            value: <Status state={state}>{label}</Status>,
            ...(apiKey.revoked_at ? { hint: <Time value={apiKey.revoked_at} /> } : {}),
          },
          { label: 'Type', value: TYPES[apiKey.key_type] },
          { label: 'Key ID', value: apiKey.key_id, copy: apiKey.key_id, hint: 'The secret part isn’t stored and can’t be shown again.' },
          { label: 'Roles', value: <Roles ids={apiKey.role_ids} /> },
          ...(apiKey.scopes ? [{ label: 'Scopes', value: apiKey.scopes.join(', ') || 'None' }] : []),
          { label: 'Rate limit', value: limitInWords(apiKey.rate_limit_requests, apiKey.rate_limit_window_sec) ?? 'Unlimited' },
          {
            label: 'Allowed IP addresses',
            value: apiKey.ip_allowlist.length ? <span className="font-mono text-xs">{apiKey.ip_allowlist.join(', ')}</span> : 'Any',
          },
          ...(apiKey.active && apiKey.revoke_at
            ? [{ label: 'Works until', value: <Time value={apiKey.revoke_at} format="datetime" />, hint: 'Replaced by another key.' }]
            : []),
          { label: 'Expires', value: <Time value={apiKey.expires_at} format="datetime" empty="Never" /> },
          {
            label: 'Last used',
            value: <Time value={apiKey.last_used_at} empty="Never" />,
            ...(apiKey.last_used_ip ? { hint: `from ${apiKey.last_used_ip}` } : {}),
          },
          {
            label: 'Created',
            value: <Time value={apiKey.created_at} />,
            ...(apiKey.created_by ? { hint: `by ${apiKey.created_by.label}` } : {}),
          },
          ...(apiKey.replaces_key_id ? [{ label: 'Replaces', value: apiKey.replaces_key_id, copy: apiKey.replaces_key_id }] : []),
        ]}
      />
      <KeyTraffic id={apiKey.id} />
      <RolePreview roles={apiKey.role_ids} />
      <KeyUses apiKey={apiKey} />
      <p className="flex flex-wrap gap-x-4 gap-y-1">
        <Link className={textLink} href={path(`/logs?api_key_id=${apiKey.id}&range=30d`)}>
          Calls
        </Link>
        <Link className={textLink} href={path(`/audit?resource_type=api_key&resource_id=${apiKey.id}`)}>
          Activity
        </Link>
        {/* What a key makes outlives it, its expiry and its addresses (interface rule 20 §1.6): whoever ends one can look it through. */}
        <Link className={textLink} href={path(`/audit?actor=${apiKey.id}`)}>
          Changes made with it
        </Link>
        <Link className={textLink} href={`/${slug}/settings/versions`}>
          API versions
        </Link>
      </p>
      {apiKey.active && (
        <div className="flex flex-wrap gap-2">
          <Button disabledReason={readOnly} onClick={() => setAsking('rotate')}>
            Rotate
          </Button>
          <Button variant="danger-quiet" disabledReason={irrevocable(apiKey)} onClick={() => setAsking('revoke')}>
            Revoke
          </Button>
        </div>
      )}
      {asking === 'rotate' && <RotateDialog apiKey={apiKey} onClose={() => setAsking(undefined)} onRotated={onRotated} />}
      <RevokeDialog apiKey={apiKey} open={asking === 'revoke'} onClose={() => setAsking(undefined)} />
    </>
  );
}
