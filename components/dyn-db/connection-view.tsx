'use client';

import { useQuery } from '@tanstack/react-query';
import { parseAsStringLiteral, useQueryState } from 'nuqs';
import { Activity } from '#components/audit/activity-tab.ts';
import { Crumbs } from '#components/shell/crumbs.tsx';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Badge, Status } from '#components/ui/badge.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyTab } from '#components/ui/lazy.tsx';
import { counted } from '#components/ui/numbers.ts';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { TabLinks } from '#components/ui/tabs.tsx';
import { ENGINE_LABELS } from '#server/domain/dyn-db/engines.shared.ts';
import { lightOf } from './labels.ts';

const ConnectionOverview = lazyTab(() => import('./overview-tab.tsx').then((module) => module.ConnectionOverview));
const RolesTab = lazyTab(() => import('./roles-tab.tsx').then((module) => module.RolesTab));
const LeasesTab = lazyTab(() => import('./leases-tab.tsx').then((module) => module.LeasesTab));

const TABS = ['overview', 'roles', 'leases', 'activity'] as const;
const LABELS = { overview: 'Overview', roles: 'Roles', leases: 'Leases', activity: 'Activity' } as const;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** One database connection: whether it works, its roles, and the users that exist by it. */
export function ConnectionView({ reference }: { reference: string }) {
  const trpc = useTRPC();
  // Search and audit entries lead here by ID; the API knows connections by name.
  const byId = UUID.test(reference);
  const list = useQuery(trpc.dynDb.list.queryOptions({}, { enabled: byId }));
  const name = byId ? (list.data?.data.find(({ id }) => id === reference)?.name ?? reference) : reference;
  if (byId && !list.data)
    return (
      <Frame>
        {list.isError ? <QueryError query={list} what="Database connection" /> : <Skeleton lines={6} label="Loading connection" />}
      </Frame>
    );
  return <NamedConnection name={name} />;
}

function Frame({ children }: { children: React.ReactNode }) {
  const path = usePath();
  return (
    <Page>
      <PageHeader title="Database connection" back={{ href: path('/database-credentials'), label: 'Database credentials' }} />
      {children}
    </Page>
  );
}

function NamedConnection({ name }: { name: string }) {
  const trpc = useTRPC();
  const path = usePath();
  const [tab] = useQueryState('tab', parseAsStringLiteral(TABS).withDefault('overview'));
  const query = useQuery(
    trpc.dynDb.get.queryOptions(
      { connection: name },
      // The first check runs in the background, and leases come and go.
      { refetchInterval: ({ state }) => (state.data?.status === 'unknown' ? 2_000 : 15_000) },
    ),
  );
  const connection = query.data;
  if (!connection)
    return (
      <Frame>
        {query.isError ? <QueryError query={query} what="Database connection" /> : <Skeleton lines={6} label="Loading connection" />}
      </Frame>
    );
  const light = lightOf(connection);
  const counts = { overview: undefined, roles: undefined, leases: connection.live_leases, activity: undefined };
  return (
    <Page>
      <Crumbs crumbs={[{ label: connection.name }]} />
      <PageHeader
        back={{ href: path('/database-credentials'), label: 'Database credentials' }}
        title={connection.name}
        badges={
          <>
            <Badge>{ENGINE_LABELS[connection.engine]}</Badge>
            <Status state={light.state}>{light.label}</Status>
            {connection.errored_leases > 0 && <Badge tone="bad">{counted(connection.errored_leases, 'errored lease')}</Badge>}
          </>
        }
      >
        <p className="-mt-1 text-ink-3 text-xs">
          <CopyText value={connection.id} label="ID" />
        </p>
      </PageHeader>
      <TabLinks
        label="Database connection"
        tabs={TABS.map((one) => ({
          href: one === 'overview' ? '?' : `?tab=${one}`,
          label: LABELS[one],
          active: one === tab,
          count: counts[one],
        }))}
      />
      {tab === 'overview' && <ConnectionOverview connection={connection} />}
      {tab === 'roles' && <RolesTab connection={connection} />}
      {tab === 'leases' && <LeasesTab connection={connection} />}
      {tab === 'activity' && <Activity resource_type="dyn_db_connection" resource_id={connection.id} />}
    </Page>
  );
}
