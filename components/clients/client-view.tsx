'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Pencil, Trash2 } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { parseAsStringLiteral, useQueryState } from 'nuqs';
import { useState } from 'react';
import { Activity } from '#components/audit/activity-tab.ts';
import { Crumbs } from '#components/shell/crumbs.tsx';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge, Status } from '#components/ui/badge.tsx';
import { Button, IconButton } from '#components/ui/button.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, lazyTab, whenOpen } from '#components/ui/lazy.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { TabLinks } from '#components/ui/tabs.tsx';
import { Time } from '#components/ui/time.tsx';
import { TYPES } from './client-labels.ts';
import { ClientOverview } from './client-overview.tsx';
import { DeleteClient } from './delete-client.tsx';

const AssignmentMatrix = lazyTab(() => import('./assignment-matrix.tsx').then((module) => module.AssignmentMatrix));
const ClientAnalytics = lazyTab(() => import('#components/analytics/resource-analytics.tsx').then((module) => module.ResourceAnalytics));
const ClientCalls = lazyTab(() => import('#components/logs/resource-calls.tsx').then((module) => module.ResourceCalls));
const Credentials = lazyTab(() => import('./credentials.tsx').then((module) => module.Credentials));
const ClientSheet = lazyOverlay(() => import('./client-form.tsx').then((module) => module.ClientSheet), whenOpen);

const TABS = ['overview', 'credentials', 'routes', 'logs', 'analytics', 'activity'] as const;
const LABELS = {
  overview: 'Overview',
  credentials: 'Credentials',
  routes: 'Assigned routes',
  logs: 'Logs',
  analytics: 'Analytics',
  activity: 'Activity',
} as const;

/** One client: its addresses, where it may call, its calls and its trail. */
export function ClientView({ id }: { id: string }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const router = useRouter();
  const path = usePath();
  const readOnly = useForbidden('client:update');
  const [tab] = useQueryState('tab', parseAsStringLiteral(TABS).withDefault('overview'));
  const [open, setOpen] = useState<'edit' | 'delete'>();
  const query = useQuery(trpc.clients.get.queryOptions({ id }));
  const toggle = useMutation(
    trpc.clients.update.mutationOptions({
      onError: (error) => notifyRefused(error),
      onSuccess: () => void queryClient.invalidateQueries(trpc.clients.pathFilter()),
    }),
  );
  const back = { href: path('/clients'), label: 'Clients' };
  const client = query.data;
  if (query.isError || !client)
    return (
      <Page>
        <PageHeader title="Client" back={back} />
        {query.isError ? <QueryError query={query} what="Client" /> : <Skeleton lines={6} label="Loading client" />}
      </Page>
    );
  const counts = { credentials: client.credential_count, routes: client.assigned_route_count } as Partial<
    Record<(typeof TABS)[number], number>
  >;
  return (
    <Page>
      <Crumbs crumbs={[{ label: client.name }]} />
      <PageHeader
        back={back}
        title={client.name}
        description={client.description ?? undefined}
        badges={
          <>
            <Status state={client.enabled ? 'ok' : 'off'}>{client.enabled ? 'On' : 'Off'}</Status>
            <Badge>{TYPES[client.type]}</Badge>
          </>
        }
        actions={
          <>
            <Button loading={toggle.isPending} disabledReason={readOnly} onClick={() => toggle.mutate({ id, enabled: !client.enabled })}>
              {client.enabled ? 'Turn off' : 'Turn on'}
            </Button>
            <Button icon={<Pencil />} disabledReason={readOnly} onClick={() => setOpen('edit')}>
              Edit
            </Button>
            <IconButton
              variant="danger-quiet"
              label="Delete client"
              icon={<Trash2 />}
              disabledReason={readOnly}
              onClick={() => setOpen('delete')}
            />
          </>
        }
      >
        <p className="-mt-1 flex flex-wrap items-center gap-x-3 text-ink-3 text-xs">
          <CopyText value={client.id} label="ID" />
          <span>
            {client.last_matched_at ? (
              <>
                Last seen <Time value={client.last_matched_at} />
              </>
            ) : (
              'Never seen'
            )}
          </span>
        </p>
      </PageHeader>
      <TabLinks
        label="Client"
        tabs={TABS.map((one) => ({
          href: one === 'overview' ? '?' : `?tab=${one}`,
          label: LABELS[one],
          active: one === tab,
          ...(counts[one] === undefined ? {} : { count: counts[one] }),
        }))}
      />
      {tab === 'overview' && <ClientOverview client={client} />}
      {tab === 'credentials' && <Credentials client={client} />}
      {tab === 'routes' && <AssignmentMatrix client={client} />}
      {tab === 'logs' && <ClientCalls of={{ client_id: client.id }}>Calls from this client’s IP addresses appear here.</ClientCalls>}
      {tab === 'analytics' && <ClientAnalytics of={{ client_id: client.id }} tops={['route', 'error', 'method']} />}
      {tab === 'activity' && <Activity resource_type="client" resource_id={client.id} />}
      <ClientSheet key={client.id} client={client} open={open === 'edit'} onClose={() => setOpen(undefined)} />
      <DeleteClient
        client={client}
        open={open === 'delete'}
        onClose={() => setOpen(undefined)}
        onDeleted={() => router.push(path('/clients'))}
      />
    </Page>
  );
}
