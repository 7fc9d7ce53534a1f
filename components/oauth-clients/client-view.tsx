'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Pencil } from 'lucide-react';
import { parseAsStringLiteral, useQueryState } from 'nuqs';
import { useState } from 'react';
import { Activity } from '#components/audit/activity-tab.ts';
import { Crumbs } from '#components/shell/crumbs.tsx';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge, Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, lazyTab, whenOpen } from '#components/ui/lazy.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { TabLinks } from '#components/ui/tabs.tsx';
import { Time } from '#components/ui/time.tsx';
import { TOKEN_EXCHANGE } from '#server/domain/oauth-clients/grants.shared.ts';
import { originOf, stateOf, TYPES } from './client-labels.ts';
import { ClientOverview } from './client-overview.tsx';

const GrantsTab = lazyTab(() => import('./grants-tab.tsx').then((module) => module.GrantsTab));
const TrustBindingsTab = lazyTab(() =>
  import('#components/trust-bindings/trust-bindings-tab.tsx').then((module) => module.TrustBindingsTab),
);
const EditClientSheet = lazyOverlay(() => import('./edit-sheet.tsx').then((module) => module.EditClientSheet), whenOpen);
const TurnOffDialog = lazyOverlay(() => import('./client-dialogs.tsx').then((module) => module.TurnOffDialog), whenOpen);

const TABS = ['overview', 'grants', 'bindings', 'activity'] as const;
const LABELS = { overview: 'Overview', grants: 'Grants', bindings: 'Trust bindings', activity: 'Activity' } as const;

/** One OAuth client: what it may do, who granted it access, and its trail. */
export function ClientView({ id }: { id: string }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const path = usePath();
  const forbidden = useForbidden('oauth_client:update');
  const [tab] = useQueryState('tab', parseAsStringLiteral(TABS).withDefault('overview'));
  const [open, setOpen] = useState<'edit' | 'off'>();
  const query = useQuery(trpc.oauthClients.get.queryOptions({ id }));
  const turnOn = useMutation(
    trpc.oauthClients.update.mutationOptions({
      onError: (error) => notifyRefused(error),
      onSuccess: () => void queryClient.invalidateQueries(trpc.oauthClients.pathFilter()),
    }),
  );
  const back = { href: path('/oauth-clients'), label: 'OAuth clients' };
  const client = query.data;
  if (query.isError || !client)
    return (
      <Page>
        <PageHeader title="OAuth client" back={back} />
        {query.isError ? <QueryError query={query} what="OAuth client" /> : <Skeleton lines={6} label="Loading OAuth client" />}
      </Page>
    );
  const origin = originOf(client);
  const { state, label } = stateOf(client);
  const readOnly = origin?.why ?? (client.revoked_at ? 'A revoked client can’t be changed.' : forbidden);
  const close = () => setOpen(undefined);
  // Only a client with the grant can trust anybody.
  const tabs = TABS.filter((one) => one !== 'bindings' || one === tab || client.grant_types.includes(TOKEN_EXCHANGE));
  return (
    <Page>
      <Crumbs crumbs={[{ label: client.name }]} />
      <PageHeader
        back={back}
        title={client.name}
        badges={
          <>
            <Status state={state}>{label}</Status>
            <Badge>{TYPES[client.type]}</Badge>
            {origin && <Badge tone="accent">{origin.label}</Badge>}
          </>
        }
        actions={
          <>
            <Button
              loading={turnOn.isPending}
              disabledReason={readOnly}
              onClick={() => (client.active ? setOpen('off') : turnOn.mutate({ id: client.id, active: true }))}
            >
              {client.active ? 'Turn off' : 'Turn on'}
            </Button>
            <Button icon={<Pencil />} disabledReason={readOnly ?? origin?.fixed} onClick={() => setOpen('edit')}>
              Edit
            </Button>
          </>
        }
      >
        <p className="-mt-1 flex flex-wrap items-center gap-x-3 text-ink-3 text-xs">
          <CopyText value={client.client_id} label="client ID" />
          <span>
            {client.last_used_at ? (
              <>
                Last used <Time value={client.last_used_at} />
              </>
            ) : (
              'Never used'
            )}
          </span>
        </p>
      </PageHeader>
      <TabLinks
        label="OAuth client"
        tabs={tabs.map((one) => ({ href: one === 'overview' ? '?' : `?tab=${one}`, label: LABELS[one], active: one === tab }))}
      />
      {tab === 'overview' && <ClientOverview client={client} />}
      {tab === 'grants' && <GrantsTab client={client} />}
      {tab === 'bindings' && <TrustBindingsTab client={client} />}
      {tab === 'activity' && <Activity resource_type="oauth_client" resource_id={client.id} />}
      <EditClientSheet key={client.id} client={client} open={open === 'edit'} onClose={close} />
      <TurnOffDialog client={client} open={open === 'off'} onClose={close} />
    </Page>
  );
}
