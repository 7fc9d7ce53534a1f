'use client';

import { useQuery } from '@tanstack/react-query';
import { FlaskConical, Play } from 'lucide-react';
import { parseAsStringLiteral, useQueryState } from 'nuqs';
import { Crumbs } from '#components/shell/crumbs.tsx';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Badge } from '#components/ui/badge.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyTab } from '#components/ui/lazy.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { TabLinks } from '#components/ui/tabs.tsx';
import { STATUS } from './ai-labels.ts';
import { KillSwitch } from './kill-switch.tsx';

const AgentOverview = lazyTab(() => import('./agent-overview.tsx').then((module) => module.AgentOverview));
const AgentSettings = lazyTab(() => import('./agent-settings-tab.tsx').then((module) => module.AgentSettings));
const TokenTable = lazyTab(() => import('./token-table.tsx').then((module) => module.TokenTable));
const ConnectTab = lazyTab(() => import('./connect-tab.tsx').then((module) => module.ConnectTab));
const ActivityTab = lazyTab(() => import('./activity-tab.tsx').then((module) => module.ActivityTab));

const LABELS = {
  overview: 'Overview',
  connect: 'Connect',
  tokens: 'Tokens',
  activity: 'Activity',
  upstream: 'Upstream & routing',
  models: 'Models',
  budget: 'Budget & limits',
  privacy: 'Privacy',
  firewall: 'Firewall & guardrail',
  output: 'Tools & output',
  cache: 'Cache',
  general: 'Settings',
} as const;
const TABS = Object.keys(LABELS) as (keyof typeof LABELS)[];

/** One agent: what it does now, how to call it, and everything that governs its calls. */
export function AgentView({ id }: { id: string }) {
  const trpc = useTRPC();
  const path = usePath();
  const [tab] = useQueryState('tab', parseAsStringLiteral(TABS).withDefault('overview'));
  const query = useQuery(trpc.aiGateways.getAgent.queryOptions({ id }));
  const agent = query.data;
  const gateway = useQuery(trpc.aiGateways.get.queryOptions({ id: agent?.gateway_id ?? '' }, { enabled: agent !== undefined }));
  const back = { href: path('/ai/agents'), label: 'Agents' };
  if (query.isError || !agent)
    return (
      <Page>
        <PageHeader title="Agent" back={back} />
        {query.isError ? <QueryError query={query} what="Agent" /> : <Skeleton lines={6} label="Loading agent" />}
      </Page>
    );
  return (
    <Page>
      <Crumbs crumbs={[{ label: agent.name }]} />
      <PageHeader
        back={back}
        title={agent.name}
        description={agent.description ?? undefined}
        badges={
          <>
            <Badge>{agent.provider ?? 'Custom route'}</Badge>
            {agent.status !== 'active' && <Badge tone={agent.status === 'paused' ? 'warn' : 'neutral'}>{STATUS[agent.status].label}</Badge>}
          </>
        }
        actions={
          <>
            <LinkButton href={path(`/ai/playground?agent=${agent.id}`)} icon={<FlaskConical />}>
              Playground
            </LinkButton>
            <KillSwitch of="agent" row={agent} />
          </>
        }
      >
        <p className="-mt-1 text-ink-3 text-xs">
          <CopyText value={agent.agent_url} label="agent URL" />
        </p>
      </PageHeader>
      {agent.status === 'paused' && (
        <Callout tone="warn" title="Paused: its calls are refused">
          {agent.paused_reason ?? 'No reason was given.'}
        </Callout>
      )}
      {gateway.data && gateway.data.status !== 'active' && (
        <Callout
          tone="warn"
          title={`The gateway ${gateway.data.name} is ${gateway.data.status}: calls of this agent are refused`}
          actions={
            <LinkButton size="sm" icon={<Play />} href={path(`/ai/gateways/${gateway.data.id}`)}>
              Open gateway
            </LinkButton>
          }
        />
      )}
      <TabLinks
        label="Agent"
        tabs={TABS.map((one) => ({ href: one === 'overview' ? '?' : `?tab=${one}`, label: LABELS[one], active: one === tab }))}
      />
      {tab === 'overview' ? (
        <AgentOverview agent={agent} gateway={gateway.data} />
      ) : tab === 'tokens' ? (
        <TokenTable owner={{ of: 'agent', id: agent.id, name: agent.name }} />
      ) : tab === 'connect' ? (
        <ConnectTab agent={agent} />
      ) : tab === 'activity' ? (
        <ActivityTab agent={agent} />
      ) : (
        <AgentSettings key={tab} agent={agent} tab={tab} />
      )}
    </Page>
  );
}
