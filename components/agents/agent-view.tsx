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
import { Skeleton } from '#components/ui/skeleton.tsx';
import { TabLinks } from '#components/ui/tabs.tsx';
import { connectivityLabel, MODES } from './labels.ts';

const OverviewTab = lazyTab(() => import('./overview-tab.tsx').then((module) => module.OverviewTab));
const InstallTab = lazyTab(() => import('./install-tab.tsx').then((module) => module.InstallTab));
const RoutesTab = lazyTab(() => import('./routes-tab.tsx').then((module) => module.RoutesTab));
const CommandsTab = lazyTab(() => import('./commands-tab.tsx').then((module) => module.CommandsTab));
const SecurityTab = lazyTab(() => import('./security-tab.tsx').then((module) => module.SecurityTab));
const LogsTab = lazyTab(() => import('./logs-tab.tsx').then((module) => module.LogsTab));

const TABS = ['overview', 'install', 'routes', 'commands', 'security', 'logs', 'activity'] as const;
const LABELS = {
  overview: 'Overview',
  install: 'Install',
  routes: 'Routes and rules',
  commands: 'Commands',
  security: 'Security',
  logs: 'Logs',
  activity: 'Activity',
} as const;

/** One agent: how it does, how it is installed, what it may, and what ends it. */
export function AgentView({ id }: { id: string }) {
  const trpc = useTRPC();
  const path = usePath();
  const [tab] = useQueryState('tab', parseAsStringLiteral(TABS).withDefault('overview'));
  const query = useQuery(
    trpc.agents.get.queryOptions(
      { id },
      { refetchInterval: ({ state }) => (state.data?.connectivity === 'never_connected' ? 2_000 : 15_000) },
    ),
  );
  const back = { href: path('/agents'), label: 'On-host agents' };
  const agent = query.data;
  if (!agent)
    return (
      <Page>
        <PageHeader title="Agent" back={back} />
        {query.isError ? <QueryError query={query} what="Agent" /> : <Skeleton lines={6} label="Loading agent" />}
      </Page>
    );
  const { state, label } = connectivityLabel(agent.connectivity);
  return (
    <Page>
      <Crumbs crumbs={[{ label: agent.name }]} />
      <PageHeader
        back={back}
        title={agent.name}
        badges={
          <>
            <Badge>{MODES[agent.mode].title}</Badge>
            <Status state={state}>{label}</Status>
            {agent.tamper_count > 0 && <Badge tone="warn">Tamper events</Badge>}
          </>
        }
      >
        <p className="-mt-1 text-ink-3 text-xs">
          <CopyText value={agent.agent_id} label="agent ID" />
        </p>
      </PageHeader>
      <TabLinks
        label="Agent"
        tabs={TABS.map((one) => ({ href: one === 'overview' ? '?' : `?tab=${one}`, label: LABELS[one], active: one === tab }))}
      />
      {tab === 'overview' && <OverviewTab agent={agent} />}
      {tab === 'install' && <InstallTab agent={agent} />}
      {tab === 'routes' && <RoutesTab agent={agent} />}
      {tab === 'commands' && <CommandsTab agent={agent} />}
      {tab === 'security' && <SecurityTab agent={agent} />}
      {tab === 'logs' && <LogsTab agent={agent} />}
      {tab === 'activity' && <Activity resource_type="agent" resource_id={agent.id} />}
    </Page>
  );
}
