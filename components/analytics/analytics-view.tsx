'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { RotateCw } from 'lucide-react';
import { useQueryStates } from 'nuqs';
import { useState } from 'react';
import { spanOf } from '#components/logs/list-search.ts';
import { TimeRange } from '#components/logs/time-range.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { IconButton } from '#components/ui/button.tsx';
import { useEnvironmentLabel } from '#components/ui/environment-label.ts';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyPart } from '#components/ui/lazy.tsx';
import { Select } from '#components/ui/select.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { ViewsMenu } from '#components/views/views-menu.tsx';
import { AnalyticsOverview } from './analytics-overview.tsx';
import { analyticsSearch } from './search.ts';

const AnalyticsExplorer = lazyPart(() => import('./analytics-explorer.tsx').then((module) => module.AnalyticsExplorer));
const Locations = lazyPart(() => import('./locations.tsx').then((module) => module.Locations));

const ANY = '';

/** How calls go: the figures one asks first, and any figure by anything. */
export function AnalyticsView() {
  const trpc = useTRPC();
  const [search, setSearch] = useQueryStates(analyticsSearch);
  const [now, setNow] = useState(() => Date.now());
  const environmentName = useEnvironmentLabel();
  const routes = useQuery(trpc.routes.list.queryOptions({ per_page: 100 }, { placeholderData: keepPreviousData }));
  const environments = useQuery(trpc.environments.list.queryOptions({}));
  const change = (part: Parameters<typeof setSearch>[0]) => void setSearch(part);
  return (
    <Page>
      <PageHeader
        title="Analytics"
        description="Traffic, failures and latency from every call through the gateway. Calls from the Test tab are not counted."
        actions={
          <>
            <IconButton label="Refresh" icon={<RotateCw />} variant="secondary" onClick={() => setNow(Date.now())} />
            <ViewsMenu page="analytics" />
            <TimeRange search={search} onChange={change} span={spanOf(search, now)} />
          </>
        }
      />
      <div className="flex flex-wrap items-center gap-2">
        <Segmented
          label="View"
          options={[
            { value: 'overview', label: 'Overview' },
            { value: 'explorer', label: 'Explorer' },
          ]}
          value={search.view}
          onValueChange={(view) => change({ view })}
        />
        <Select
          label="Route"
          options={[{ value: ANY, label: 'All routes' }, ...(routes.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }))]}
          value={search.route_id ?? ANY}
          onValueChange={(id) => change({ route_id: id || null })}
          className="w-44"
        />
        <Select
          label="Environment"
          options={[
            { value: ANY, label: 'All environments' },
            ...(environments.data?.data ?? []).map(({ name }) => ({ value: name, label: environmentName(name) })),
          ]}
          value={search.environment ?? ANY}
          onValueChange={(name) => change({ environment: name || null })}
          className="w-44"
        />
      </div>
      {search.view === 'overview' ? (
        <>
          <AnalyticsOverview search={search} now={now} />
          <Locations search={search} now={now} />
        </>
      ) : (
        <AnalyticsExplorer search={search} now={now} onChange={change} />
      )}
    </Page>
  );
}
