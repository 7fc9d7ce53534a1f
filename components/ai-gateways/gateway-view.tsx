'use client';

import { useQuery } from '@tanstack/react-query';
import { parseAsStringLiteral, useQueryState } from 'nuqs';
import { Activity } from '#components/audit/activity-tab.ts';
import { Crumbs } from '#components/shell/crumbs.tsx';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Badge } from '#components/ui/badge.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyTab } from '#components/ui/lazy.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { TabLinks } from '#components/ui/tabs.tsx';
import { STATUS } from './ai-labels.ts';
import { KillSwitch } from './kill-switch.tsx';

const GatewayAgents = lazyTab(() => import('./gateway-agents.tsx').then((module) => module.GatewayAgents));
const TokenTable = lazyTab(() => import('./token-table.tsx').then((module) => module.TokenTable));
const GatewayServers = lazyTab(() => import('./gateway-servers.tsx').then((module) => module.GatewayServers));
const GatewaySettings = lazyTab(() => import('./gateway-settings.tsx').then((module) => module.GatewaySettings));

const TABS = ['agents', 'mcp', 'tokens', 'activity', 'settings'] as const;
const LABELS = { agents: 'Agents', mcp: 'MCP servers', tokens: 'Tokens', activity: 'Activity', settings: 'Settings' } as const;

/** One gateway: its agents, every token under it, its budget and aliases. */
export function GatewayView({ id }: { id: string }) {
  const trpc = useTRPC();
  const path = usePath();
  const [tab] = useQueryState('tab', parseAsStringLiteral(TABS).withDefault('agents'));
  const query = useQuery(trpc.aiGateways.get.queryOptions({ id }));
  const back = { href: path('/ai'), label: 'Gateways' };
  const gateway = query.data;
  if (query.isError || !gateway)
    return (
      <Page>
        <PageHeader title="Gateway" back={back} />
        {query.isError ? <QueryError query={query} what="Gateway" /> : <Skeleton lines={6} label="Loading gateway" />}
      </Page>
    );
  return (
    <Page>
      <Crumbs crumbs={[{ label: gateway.name }]} />
      <PageHeader
        back={back}
        title={gateway.name}
        description={gateway.description ?? undefined}
        badges={
          gateway.status === 'active' ? undefined : (
            <Badge tone={gateway.status === 'paused' ? 'warn' : 'neutral'}>{STATUS[gateway.status].label}</Badge>
          )
        }
        actions={<KillSwitch of="gateway" row={gateway} />}
      >
        <p className="-mt-1 text-ink-3 text-xs">
          <CopyText value={gateway.id} label="ID" />
        </p>
      </PageHeader>
      {gateway.status === 'paused' && (
        <Callout tone="warn" title="Paused: every call of its agents and MCP servers is refused">
          {gateway.paused_reason ?? 'No reason was given.'}
        </Callout>
      )}
      <TabLinks
        label="Gateway"
        tabs={TABS.map((one) => ({ href: one === 'agents' ? '?' : `?tab=${one}`, label: LABELS[one], active: one === tab }))}
      />
      {tab === 'agents' && <GatewayAgents gateway={gateway} />}
      {tab === 'mcp' && <GatewayServers gatewayId={gateway.id} />}
      {tab === 'tokens' && <TokenTable owner={{ of: 'gateway', id: gateway.id, name: gateway.name }} />}
      {tab === 'activity' && <Activity resource_type="ai_gateway" resource_id={gateway.id} />}
      {tab === 'settings' && <GatewaySettings gateway={gateway} />}
    </Page>
  );
}
