'use client';

import { useQuery } from '@tanstack/react-query';
import { parseAsStringLiteral, useQueryState } from 'nuqs';
import { Activity } from '#components/audit/activity-tab.ts';
import { Crumbs } from '#components/shell/crumbs.tsx';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Badge } from '#components/ui/badge.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyTab } from '#components/ui/lazy.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { TabLinks } from '#components/ui/tabs.tsx';
import { Time } from '#components/ui/time.tsx';
import { MANAGERS, MODES, TYPES } from './key-labels.ts';
import { KeyOverview } from './overview-tab.tsx';

const VersionsTab = lazyTab(() => import('./versions-tab.tsx').then((module) => module.VersionsTab));
const TryIt = lazyTab(() => import('./try-it-tab.tsx').then((module) => module.TryIt));
const UsageTab = lazyTab(() => import('./usage-tab.tsx').then((module) => module.UsageTab));
const PoliciesTab = lazyTab(() => import('./policies-tab.tsx').then((module) => module.PoliciesTab));

const TABS = ['overview', 'versions', 'try', 'usage', 'policies', 'activity'] as const;
const LABELS = {
  overview: 'Overview',
  versions: 'Versions',
  try: 'Try it',
  usage: 'Usage',
  policies: 'Policies',
  activity: 'Activity',
} as const;

/** One crypto key: its settings, its versions, what it does, who uses it. */
export function KeyView({ id }: { id: string }) {
  const trpc = useTRPC();
  const path = usePath();
  const [tab] = useQueryState('tab', parseAsStringLiteral(TABS).withDefault('overview'));
  const query = useQuery(trpc.cryptoKeys.get.queryOptions({ name: id }));
  const back = { href: path('/crypto'), label: 'Crypto keys' };
  const key = query.data;
  if (query.isError || !key)
    return (
      <Page>
        <PageHeader title="Crypto key" back={back} />
        {query.isError ? <QueryError query={query} what="Crypto key" /> : <Skeleton lines={6} label="Loading crypto key" />}
      </Page>
    );
  const active = key.versions.find(({ status }) => status === 'active');
  return (
    <Page>
      <Crumbs crumbs={[{ label: key.name }]} />
      <PageHeader
        back={back}
        title={<span className="font-mono text-lg">{key.name}</span>}
        description={key.description ?? undefined}
        badges={
          <>
            <Badge>{TYPES[key.key_type].label}</Badge>
            {key.mode === 'bundled' && <Badge>{MODES.bundled}</Badge>}
            {key.managed_by !== 'tenant' && <Badge tone="accent">Managed by {MANAGERS[key.managed_by].toLowerCase()}</Badge>}
            {key.deletion_allowed && <Badge tone="warn">Destruction allowed</Badge>}
          </>
        }
      >
        <p className="-mt-1 flex flex-wrap items-center gap-x-3 text-ink-3 text-xs">
          <CopyText value={key.id} label="ID" />
          <span>
            Version {key.current_version}
            {active && (
              <>
                , created <Time value={active.created_at} />
              </>
            )}
          </span>
        </p>
      </PageHeader>
      <TabLinks
        label="Crypto key"
        tabs={TABS.map((one) => ({
          href: one === 'overview' ? '?' : `?tab=${one}`,
          label: LABELS[one],
          active: one === tab,
          ...(one === 'versions' ? { count: key.versions.length } : {}),
        }))}
      />
      {tab === 'overview' && <KeyOverview crypto={key} />}
      {tab === 'versions' && <VersionsTab crypto={key} />}
      {tab === 'try' && <TryIt key={key.id} crypto={key} />}
      {tab === 'usage' && <UsageTab crypto={key} />}
      {tab === 'policies' && <PoliciesTab crypto={key} />}
      {tab === 'activity' && <Activity resource_type="crypto_key" resource_id={key.id} />}
    </Page>
  );
}
