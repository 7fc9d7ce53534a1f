'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Monitor, Smartphone } from 'lucide-react';
import { useState } from 'react';
import type { z } from 'zod';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { QueryError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { counted } from '#components/ui/numbers.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { SessionList } from '#server/domain/people/schema.ts';
import { addressIn } from '#server/domain/tenants/country.shared.ts';
import { deviceOf, isPhone } from './device.ts';
import { usePersonCall } from './person-calls.ts';
import { useRenewedSession } from './use-renewed-session.ts';

type Sessions = z.output<typeof SessionList>;
type Row = Sessions['sessions'][number] & { end: () => void };
const KEY = ['me', 'sessions'] as const;
const METHODS: Record<string, string> = {
  password: 'password',
  passkey: 'passkey',
  totp: 'authenticator code',
  recovery: 'recovery code',
  code: 'email code',
  sso: 'single sign-on',
  signup: 'sign-up',
  magic: 'email code or link',
  otp: 'email code',
  link: 'email link',
  operator: 'operator',
};

const column = columnsFor<Row>();
const columns = [
  column.accessor('user_agent', {
    header: 'Device',
    cell: ({ row: { original } }) => {
      const Icon = isPhone(original.user_agent) ? Smartphone : Monitor;
      return (
        <span className="flex flex-wrap items-center gap-x-2">
          <Icon aria-hidden className="size-4 shrink-0 text-ink-3" />
          <span title={original.user_agent ?? undefined}>{deviceOf(original.user_agent)}</span>
          {original.current && <Badge tone="good">This device</Badge>}
          {original.scope_tenant_id && <Badge>One workspace only</Badge>}
        </span>
      );
    },
  }),
  column.accessor('ip', {
    header: 'IP address',
    meta: { hideBelow: 'sm' },
    cell: ({ row: { original } }) => (
      <span className="font-mono text-ink-2 text-xs">{addressIn(original.ip, original.ip_country) ?? '—'}</span>
    ),
  }),
  column.accessor('auth_methods', {
    header: 'Method',
    meta: { hideBelow: 'lg' },
    cell: ({ getValue }) =>
      getValue()
        .map((method) => METHODS[method] ?? method)
        .join(', '),
  }),
  column.accessor('last_seen_at', { header: 'Last active', cell: ({ getValue }) => <Time value={getValue()} /> }),
  column.accessor('created_at', {
    header: 'Signed in',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) => <Time value={getValue()} format="datetime" />,
  }),
  column.accessor('expires_at', { header: 'Expires', meta: { hideBelow: 'lg' }, cell: ({ getValue }) => <Time value={getValue()} /> }),
  column.display({
    id: 'end',
    header: () => <span className="sr-only">Actions</span>,
    meta: { align: 'right' },
    cell: ({ row: { original } }) =>
      original.current ? null : (
        <Button
          size="sm"
          variant="danger-quiet"
          aria-label={`Sign out ${deviceOf(original.user_agent)}, ${original.ip ?? 'unknown IP address'}`}
          onClick={original.end}
        >
          Sign out
        </Button>
      ),
  }),
];

/** Where you are signed in, and the way to end what you do not know. */
export function SessionsView() {
  const call = usePersonCall();
  const queryClient = useQueryClient();
  const [asking, setAsking] = useState(false);
  const query = useQuery({ queryKey: KEY, queryFn: () => call<Sessions>('GET', '/auth/sessions') });
  const end = useMutation({
    mutationFn: (id: string) => call<{ connected_apps: number }>('DELETE', `/auth/sessions/${id}`),
    onError: (error) => notifyRefused(error),
    onSuccess: ({ connected_apps }) =>
      notifyDone(
        connected_apps === 0 ? 'Session signed out' : `Session signed out. ${counted(connected_apps, 'connected app')} stay logged in.`,
      ),
    onSettled: () => void queryClient.invalidateQueries({ queryKey: KEY }),
  });
  const renewed = useRenewedSession();
  const endOthers = useMutation({
    mutationFn: () => call<{ revoked: number; apps: number }>('DELETE', '/auth/sessions'),
    onSuccess: async ({ revoked, apps }) => {
      await renewed();
      void queryClient.invalidateQueries({ queryKey: KEY });
      notifyDone(`${counted(revoked, 'session')} and ${counted(apps, 'connected app')} signed out`);
      setAsking(false);
    },
  });
  const sessions = query.data?.sessions;
  const others = sessions?.filter((session) => !session.current).length ?? 0;
  return (
    <Page className="max-w-5xl">
      <PageHeader
        title="Sessions"
        description="Devices where you’re signed in. If you don’t recognize one, sign out all others and change your password: both sign out connected apps too."
        actions={
          <Button variant="danger-quiet" onClick={() => setAsking(true)}>
            Sign out others
          </Button>
        }
      />
      {query.isError ? (
        <QueryError query={query} what="Your sessions" />
      ) : (
        <DataTable
          columns={columns}
          rows={sessions?.map((session) => ({ ...session, end: () => end.mutate(session.id) }))}
          rowId={(row) => row.id}
          rowName={(row) => deviceOf(row.user_agent)}
          caption="Your sessions"
          skeletonRows={2}
        />
      )}
      <ConfirmDanger
        open={asking}
        onOpenChange={(open) => {
          setAsking(open);
          endOthers.reset();
        }}
        title="Sign out everywhere else?"
        consequences={[
          `${counted(others, 'other session')} will be signed out. Unsaved changes there are lost.`,
          'Connected apps and the command line are signed out, too. Mailed sign-in links stop working.',
          'You stay signed in on this device.',
        ]}
        confirmLabel="Sign out"
        space="live"
        busy={endOthers.isPending}
        error={endOthers.error ? refusalOf(endOthers.error) : undefined}
        onConfirm={() => endOthers.mutate()}
      />
    </Page>
  );
}
